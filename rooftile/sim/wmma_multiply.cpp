// The product of a warp's fragments, and what all lanes of a matrix operation must have in common.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "rooftile/core/dtype.h"
#include "rooftile/sim/grid.h"
#include "rooftile/sim/thread.h"
#include "rooftile/sim/wmma_warp.h"

namespace rooftile::simt::detail {
namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kMostLines = 32;
constexpr unsigned kMostDepth = 16;
constexpr std::uint32_t kTf32Bits = 0xffffe000u;  // the tensor core takes no others

template <class T>
T element_at(const std::byte* elements, unsigned i) {
  T value;
  std::memcpy(&value, elements + i * sizeof(T), sizeof(T));
  return value;
}

// body(lane, index in the lane's elements, row, column)
template <class Body>
void for_each_element(const FragmentLayout& layout, Body&& body) {
  for (unsigned tile = 0; tile < tiles_of(layout); ++tile) {
    const LinePlace first = tile_place(layout, tile);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned line = first.line + lane / kTileRuns;
      const unsigned along = first.along + layout.run * (lane % kTileRuns);
      for (unsigned i = 0; i < layout.run; ++i) {
        const unsigned index = tile * layout.run + i;
        if (layout.lines_are_rows) {
          body(lane, index, line, along + i);
        } else {
          body(lane, index, along + i, line);
        }
      }
    }
  }
}

template <class Sum>
struct Matrices {
  Sum a[kMostLines][kMostDepth];
  Sum b[kMostDepth][kMostLines];
  Sum d[kMostLines][kMostLines];
};

struct Tf32 {
  std::uint32_t bits;
};
float widened(Float16 value) { return to_float(value); }
float widened(BFloat16 value) { return to_float(value); }
float widened(Tf32 value) { return std::bit_cast<float>(value.bits & kTf32Bits); }
std::int32_t widened(std::int8_t value) { return +value; }
std::int32_t widened(std::uint8_t value) { return value; }
std::int32_t widened(std::int32_t value) { return value; }
float widened(float value) { return value; }

// body with an element of the type that the lanes hold, as template argument.
template <class Body>
void with_type(MatrixElement element, Body&& body) {
  switch (element) {
    case MatrixElement::float16:
      return body(std::type_identity<Float16>{});
    case MatrixElement::bfloat16:
      return body(std::type_identity<BFloat16>{});
    case MatrixElement::tf32:
      return body(std::type_identity<Tf32>{});
    case MatrixElement::int8:
      return body(std::type_identity<std::int8_t>{});
    case MatrixElement::uint8:
      return body(std::type_identity<std::uint8_t>{});
    case MatrixElement::float32:
      return body(std::type_identity<float>{});
    case MatrixElement::int32:
      return body(std::type_identity<std::int32_t>{});
  }
}

template <class Sum, unsigned kColumns>
void add_products(Matrices<Sum>& of, unsigned rows, unsigned depth) {
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned k = 0; k < depth; ++k) {
      for (unsigned column = 0; column < kColumns; ++column) {
        of.d[row][column] += of.a[row][k] * of.b[k][column];
      }
    }
  }
}

class MultiplyStep final : public MatrixStep {
 public:
  MultiplyStep(const MatrixProduct& product, const ProductElements& elements, bool saturate,
               std::source_location where)
      : MatrixStep(where), product_(product), elements_(elements), saturate_(saturate) {}

  [[nodiscard]] bool agrees(const MatrixStep& other) const override {
    const auto& step = static_cast<const MultiplyStep&>(other);
    return product_ == step.product_ && saturate_ == step.saturate_;
  }

  void run(MatrixStep* const* lanes) override {
    if (product_.c.element == MatrixElement::int32) {
      // A sum of 64 bits cannot overflow.
      multiply<std::int64_t>(lanes);
    } else {
      multiply<float>(lanes);
    }
  }

 private:
  template <class Sum>
  void multiply(MatrixStep* const* lanes) const {
    Matrices<Sum> of{};
    const auto elements_of = [&](unsigned lane) -> const ProductElements& {
      return static_cast<const MultiplyStep*>(lanes[lane])->elements_;
    };
    const auto gather = [&](const FragmentLayout& layout, auto& matrix, auto member) {
      with_type(layout.element, [&]<class T>(std::type_identity<T>) {
        for_each_element(layout, [&](unsigned lane, unsigned i, unsigned row, unsigned column) {
          const auto* const held = static_cast<const std::byte*>(elements_of(lane).*member);
          matrix[row][column] = static_cast<Sum>(widened(element_at<T>(held, i)));
        });
      });
    };
    gather(product_.a, of.a, &ProductElements::a);
    gather(product_.b, of.b, &ProductElements::b);
    gather(product_.c, of.d, &ProductElements::c);
    switch (product_.b.lines) {
      case 8:
        add_products<Sum, 8>(of, product_.a.lines, product_.a.depth);
        break;
      case 16:
        add_products<Sum, 16>(of, product_.a.lines, product_.a.depth);
        break;
      default:
        add_products<Sum, 32>(of, product_.a.lines, product_.a.depth);
        break;
    }
    for_each_element(product_.d, [&](unsigned lane, unsigned i, unsigned row, unsigned column) {
      put(static_cast<std::byte*>(elements_of(lane).d), i, of.d[row][column]);
    });
  }

  void put(std::byte* elements, unsigned i, float sum) const {
    if (product_.d.element == MatrixElement::float16) {
      const Float16 rounded = to_float16(sum);
      std::memcpy(elements + i * sizeof(rounded), &rounded, sizeof(rounded));
    } else {
      std::memcpy(elements + i * sizeof(sum), &sum, sizeof(sum));
    }
  }
  void put(std::byte* elements, unsigned i, std::int64_t sum) const {
    using Limits = std::numeric_limits<std::int32_t>;
    if (saturate_) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
    const auto wrapped = static_cast<std::int32_t>(sum);
    std::memcpy(elements + i * sizeof(wrapped), &wrapped, sizeof(wrapped));
  }

  const MatrixProduct& product_;
  const ProductElements elements_;
  const bool saturate_;
};

}  // namespace

void multiply_fragments(const MatrixProduct& product, const ProductElements& elements, bool saturate,
                        std::source_location where) {
  MultiplyStep step(product, elements, saturate, where);
  warp_collective(WarpOp::multiply_matrices, 0xffffffffu, reinterpret_cast<std::uint64_t>(&step), 0, where);
}

void mma_sync(const MatrixProduct& product, const ProductElements& elements, std::source_location where) {
  MultiplyStep step(product, elements, false, where);
  warp_collective(WarpOp::mma_sync, 0xffffffffu, reinterpret_cast<std::uint64_t>(&step), 0, where);
}

bool is_same_place(std::source_location a, std::source_location b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::string_view(a.file_name()) == b.file_name());
}

void run_matrix_steps(const char* name, const std::array<std::uint64_t, 32>& operands) {
  std::array<MatrixStep*, kLanes> steps;
  for (unsigned lane = 0; lane < kLanes; ++lane) steps[lane] = reinterpret_cast<MatrixStep*>(operands[lane]);
  MatrixStep& first = *steps[0];
  for (unsigned lane = 1; lane < kLanes; ++lane) {
    const MatrixStep& other = *steps[lane];
    const bool same_place = is_same_place(first.where(), other.where());
    if (same_place && first.agrees(other)) continue;
    const std::string by = "lane " + std::to_string(lane);
    report_failure(name + (" at " + describe(first.where())) +
                   (same_place ? ": " + by + " calls it with other arguments than lane 0"
                               : " by lane 0, but at " + describe(other.where()) + " by " + by) +
                   ": all lanes of a warp must make the same call");
    abandon_thread();
  }
  first.run(steps.data());
}

}  // namespace rooftile::simt::detail
