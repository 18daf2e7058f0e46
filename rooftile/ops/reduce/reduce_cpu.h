// What the CPU rungs share: the elements of one output, and the loop that the other rungs end in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_host.h"
#include "rooftile/ops/reduce/reduce_plan.h"

namespace rooftile::cpu::reduce_rungs {

// Some dimensions of a strided tensor, row-major.
struct Dimensions {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> extents{};
  std::array<std::int64_t, kMaxRank> strides{};

  void add(std::int64_t extent, std::int64_t stride) {
    extents[static_cast<std::size_t>(rank)] = extent;
    strides[static_cast<std::size_t>(rank)] = stride;
    ++rank;
  }
  [[nodiscard]] std::int64_t offset(std::int64_t index) const {
    std::int64_t sum = 0;
    for (int d = rank - 1; d >= 0; --d) {
      const auto at = static_cast<std::size_t>(d);
      sum += index % extents[at] * strides[at];
      index /= extents[at];
    }
    return sum;
  }
};

// Copies elements first ... first + count of `from`, as the dimensions say, side by side to `to`.
void gather(void* to, const void* from, std::size_t element_bytes, const Dimensions& dimensions,
            std::int64_t first, std::int64_t count);

// The elements that meet in one output, by their index along the reduction. The loops over them are compiled
// for contiguous elements alone: others are gathered first, a few KiB at a time.
template <class T>
class Elements {
 public:
  static constexpr std::int64_t kChunk = 1024;
  using Buffer = std::array<T, kChunk>;

  Elements(const T* data, const Dimensions& dimensions) : data_(data), dimensions_(&dimensions) {}

  // `count` of them from `first` on, at most kChunk where they are not contiguous.
  const T* chunk(std::int64_t first, std::int64_t count, Buffer& buffer) const {
    if (contiguous()) return data_ + first;
    gather(buffer.data(), data_, sizeof(T), *dimensions_, first, count);
    return buffer.data();
  }
  [[nodiscard]] bool contiguous() const { return dimensions_->rank == 1 && dimensions_->strides[0] == 1; }

 private:
  const T* data_;
  const Dimensions* dimensions_;
};

struct Layout {
  Dimensions kept;
  Dimensions reduced;
  std::int64_t outputs = 1;
  std::int64_t count = 1;  // elements per output
};

inline Layout layout_of(const ReduceArgs& args) {
  Layout layout;
  const reduce_plan::Geometry geometry = reduce_plan::geometry(args);
  layout.outputs = geometry.outputs();
  layout.count = geometry.reduced;
  if (geometry.pattern == reduce_plan::Pattern::all) {
    layout.reduced.add(geometry.reduced, 1);
    return layout;
  }
  const AxisSet axes(args.axes, args.in.rank());
  for (int d = 0; d < args.in.rank(); ++d) {
    (axes.contains(d) ? layout.reduced : layout.kept).add(args.in.shape[d], args.in.strides[d]);
  }
  return layout;
}

template <class T>
Elements<T> elements_of(const ReduceArgs& args, const Layout& layout, std::int64_t output) {
  return {static_cast<const T*>(args.in.data) + layout.kept.offset(output), layout.reduced};
}

template <class Reduction>
void store(const Reduction& reduction, const ReduceArgs& args, std::int64_t o, typename Reduction::Acc acc,
           std::int64_t count) {
  auto* out = static_cast<std::byte*>(args.out.data) + static_cast<std::size_t>(o) * size_of(args.out.dtype);
  reduction.store(out, args.out.dtype, acc, count);
}

// Elements x[0] ... x[count - 1], the first of which has the index `first`, one after the other.
template <class Reduction, class T>
auto reduce_serial(const Reduction& reduction, typename Reduction::Acc acc, const T* x, std::int64_t first,
                   std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) acc = reduction.take(acc, x[i], first + i);
  return acc;
}

// The lesson rungs of the CPU serve f32. reduce_run(reduction, elements, count) gives an output's
// accumulator.
template <Precision kPrecision, class ReduceRun>
Status reduce_outputs(const ReduceArgs& args, ReduceRun reduce_run) {
  const Layout layout = layout_of(args);
  return dispatch_op<float, kPrecision>(args, [&](const auto& reduction) -> Status {
    for (std::int64_t o = 0; o < layout.outputs; ++o) {
      store(reduction, args, o, reduce_run(reduction, elements_of<float>(args, layout, o), layout.count),
            layout.count);
    }
    return {};
  });
}

}  // namespace rooftile::cpu::reduce_rungs
