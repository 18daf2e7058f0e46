// What the CPU rungs share: the elements of one output, and the loop that the other rungs end in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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

// The elements that meet in one output, by their index along the reduction.
template <class T>
struct Contiguous {
  const T* data;
  T operator[](std::int64_t i) const { return data[i]; }
};
template <class T>
struct Strided {
  const T* data;
  std::int64_t stride;
  T operator[](std::int64_t i) const { return data[i * stride]; }
};
template <class T>
struct Gathered {
  const T* data;
  const Dimensions* dimensions;
  T operator[](std::int64_t i) const { return data[dimensions->offset(i)]; }
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
  for (int d = 0; d < args.in.rank(); ++d) {
    const bool meets = !args.axis || d == reduce_plan::normalized_axis(args);
    (meets ? layout.reduced : layout.kept).add(args.in.shape[d], args.in.strides[d]);
  }
  return layout;
}

// Calls reduce_run(elements) with the simplest form that describes output o.
template <class T, class ReduceRun>
auto with_elements(const ReduceArgs& args, const Layout& layout, std::int64_t o, ReduceRun reduce_run) {
  const T* first = static_cast<const T*>(args.in.data) + layout.kept.offset(o);
  if (layout.reduced.rank != 1) return reduce_run(Gathered<T>{first, &layout.reduced});
  if (layout.reduced.strides[0] == 1) return reduce_run(Contiguous<T>{first});
  return reduce_run(Strided<T>{first, layout.reduced.strides[0]});
}

template <class Reduction>
void store(const Reduction& reduction, const ReduceArgs& args, std::int64_t o, typename Reduction::Acc acc,
           std::int64_t count) {
  auto* out = static_cast<std::byte*>(args.out.data) + static_cast<std::size_t>(o) * size_of(args.out.dtype);
  reduction.store(out, args.out.dtype, acc, count);
}

template <class Reduction, class Elements>
auto reduce_serial(const Reduction& reduction, const Elements& x, std::int64_t first, std::int64_t last) {
  auto acc = Reduction::identity();
  for (std::int64_t i = first; i < last; ++i) acc = reduction.take(acc, x[i], i);
  return acc;
}

// Every output by itself: reduce_run(reduction, elements, count) gives its accumulator.
template <Precision kPrecision, class ReduceRun>
Status reduce_outputs(const ReduceArgs& args, ReduceRun reduce_run) {
  const Layout layout = layout_of(args);
  return dispatch<kPrecision>(args, [&]<class T>(const auto& reduction) -> Status {
    for (std::int64_t o = 0; o < layout.outputs; ++o) {
      const auto acc = with_elements<T>(
          args, layout, o, [&](const auto& x) { return reduce_run(reduction, x, layout.count); });
      store(reduction, args, o, acc, layout.count);
    }
    return {};
  });
}

}  // namespace rooftile::cpu::reduce_rungs
