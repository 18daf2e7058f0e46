// topk: the k largest (or smallest) elements of each row, and where they stand.
//
//   values[r, j] = in[r, indices[r, j]], the largest first
//
// Shapes     in: [..., n], rows along the last axis, without gaps. values, indices: [..., k]. k is at most n.
// Dtypes     in: f64 f32 f16 bf16, i8 u8 i32 u32 i64 u64; values: in's. indices: i64.
// Order      of equal elements the one with the lower index comes first, and is chosen first: there is one right result. With
//            sorted = false the same elements in any order, with stable = false any of equal elements: today's rungs give
//            the one result in either case, other libraries do not.
// Alignment  that of an element.
// Aliasing   no two tensors overlap.
// Empty      k = 0 gives nothing, of rows of any length.
// NaN, +-0   NaN counts as larger than every number, and all NaNs are equal: with largest = false they come last. -0 and +0
//            are equal. Values are moved bit for bit.
// Size       rows of up to 2^32 - 2 elements, fewer than 2^31 of them.
// Determinism  run-to-run.
// Source     Batcher, "Sorting networks and their applications" (1968); Alabi et al., "Fast k-selection algorithms for graphics
//            processing units" (2012), radix select; Johnson et al., "Billion-scale similarity search with GPUs" (2017), queues
//            behind a threshold; Floyd and Rivest, "Expected time bounds for selection" (1975), a threshold from a sample; Knuth,
//            The Art of Computer Programming 3, 5.2, ranks by counting.
#pragma once

#include <cstdint>

#include "rooftile/core/api.h"

namespace rooftile {

struct TopkArgs {
  ConstTensorView in{};
  TensorView values{};
  TensorView indices{};
  std::int64_t k = 1;
  bool largest = true;
  bool sorted = true;
  bool stable = true;

  friend bool operator==(const TopkArgs&, const TopkArgs&) = default;
};

// auto [values, indices] = topk(context, in, {.k = 50}).value();
ROOFTILE_CALLS_OF_2(topk, TopkArgs, in)

}  // namespace rooftile
