// The operations of a warp on matrices: what nvcuda::wmma (wmma.h) and device/sm80/mma.h call.
//
// All 32 lanes must make the same call: one that does not come is a deadlock, and calls that differ end the
// launch. Like shuffles they order no accesses to memory.
#pragma once

#include <array>
#include <cstdint>
#include <source_location>

#include "rooftile/sim/wmma_layout.h"

namespace rooftile::simt::detail {

// A matrix in memory; `stride` elements from one row (or column) to the next.
struct MatrixView {
  void* start;
  unsigned stride;
  bool row_major;
  friend bool operator==(const MatrixView&, const MatrixView&) = default;
};

// Every lane moves its own part, by accesses of the size that nvcc makes of it.
void load_fragment(const FragmentLayout& layout, void* elements, const MatrixView& matrix,
                   std::source_location where);
void store_fragment(const FragmentLayout& layout, const void* elements, const MatrixView& matrix,
                    std::source_location where);

struct MatrixProduct {
  FragmentLayout a, b, c, d;
  friend constexpr bool operator==(const MatrixProduct&, const MatrixProduct&) = default;
};
struct ProductElements {
  const void* a;
  const void* b;
  const void* c;
  void* d;  // may be c
};
// d = a * b + c. Products are exact; their sum starts from c, in order of k, and is rounded to float at each
// step: hardware adds several at once and truncates, so that results agree within a tolerance. Integers wrap,
// or saturate. A d of __half is rounded once, at the end.
void multiply_fragments(const MatrixProduct& product, const ProductElements& elements, bool saturate,
                        std::source_location where);

// mma.sync of 16 x 8 sums in float: `elements` are the registers of the instruction, in its order.
template <MatrixElement kElement, unsigned k>
inline constexpr MatrixProduct kMmaProduct = {
    fragment_layout(MatrixUse::a, 16, 8, k, kElement), fragment_layout(MatrixUse::b, 16, 8, k, kElement),
    fragment_layout(MatrixUse::accumulator, 16, 8, k, MatrixElement::float32),
    fragment_layout(MatrixUse::accumulator, 16, 8, k, MatrixElement::float32)};
void mma_sync(const MatrixProduct& product, const ProductElements& elements, std::source_location where);

// What a lane brings to an operation, on its own stack.
class MatrixStep {
 public:
  explicit MatrixStep(std::source_location where) : where_(where) {}
  // Whether another lane makes the same call.
  [[nodiscard]] virtual bool agrees(const MatrixStep& other) const = 0;
  // For all lanes, of which this is the first, while they wait.
  virtual void run(MatrixStep* const* lanes) = 0;
  [[nodiscard]] std::source_location where() const { return where_; }

 protected:
  ~MatrixStep() = default;

 private:
  std::source_location where_;
};

[[nodiscard]] bool is_same_place(std::source_location a, std::source_location b);

// All lanes have come; ends the launch where their calls differ.
void run_matrix_steps(const char* name, const std::array<std::uint64_t, 32>& operands);

}  // namespace rooftile::simt::detail
