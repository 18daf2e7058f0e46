// histogram: how many elements lie in each of `bins` bins of equal width.
//
//   counts[b] = the number of i with edge(b) <= in[i] < edge(b + 1), edge(b) = lower + b (upper - lower) / bins
//               with weights their sum over these i
//
// Elements below lower, from upper on, and NaN are counted nowhere. With closed = true the last bin has upper, too, as
// numpy.histogram and torch.histc have it.
//
// Shapes     in, weights: any, the same, without gaps. counts: [bins].
// Dtypes     in: f64 f32 f16 bf16, i8 u8 i32 u32 i64 u64. weights: f64 f32. counts: i64, or u32 for fewer than 2^32
//            elements (counts_dtype); f64 with weights.
// Bounds     lower < upper, finite. Of integers whole numbers within 2^53 of 0, of 64-bit ones within what the dtype holds
//            (upper: one beyond). Of floats rounded to the dtype that bins are computed in, f64 for f64, else f32, where upper - lower and
//            bins / (upper - lower) must be finite.
// Rounding   integers are counted exactly. Of floats the bin is floor((x - lower) bins / (upper - lower)) in that dtype:
//            within its rounding of an edge an element may be counted in the bin beside it.
// Alignment  that of an element.
// Aliasing   no two tensors overlap.
// Empty      counts are 0.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Determinism  run-to-run; with weights the order of the additions is not, on a GPU.
// Source     Podlozhnyuk, "Histogram calculation in CUDA" (2007), a copy in shared memory for every warp; Gómez-Luna et al.,
//            "An optimized approach to histogram computation on GPU" (2013), copies side by side.
#pragma once

#include <cstdint>
#include <optional>

#include "rooftile/core/api.h"

namespace rooftile {

struct HistogramArgs {
  ConstTensorView in{};
  ConstTensorView weights{};
  TensorView counts{};
  std::int64_t bins = 256;
  double lower = 0.0;
  double upper = 256.0;
  bool closed = false;
  std::optional<DType> counts_dtype{};

  friend bool operator==(const HistogramArgs&, const HistogramArgs&) = default;
};

// Tensor counts = histogram(context, in, {.bins = 100, .lower = -1.0, .upper = 1.0}).value();
ROOFTILE_CALLS(histogram, HistogramArgs, in)

}  // namespace rooftile
