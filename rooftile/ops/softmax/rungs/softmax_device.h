// What the rungs of softmax share: a call's tensors, its arithmetic, and from arguments to types.
#pragma once

#include <cstdint>
#include <limits>

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/fast_math.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/rounded.h"
#include "rooftile/device/row_places.h"
#include "rooftile/device/row_threads.h"
#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/softmax/softmax_plan.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {

using softmax_plan::Cut, softmax_plan::kX, softmax_plan::kBias, softmax_plan::kMask, softmax_plan::kY,
    softmax_plan::kTensors;

inline constexpr float kNegativeInfinity = -std::numeric_limits<float>::infinity();

// Of elements of a row: their maximum, and the sum of exp((v - maximum) / temperature). Of none: kNone.
struct Stats {
  float maximum;
  float sum;
};
inline constexpr Stats kNone{kNegativeInfinity, 0};

// Where every row but one of -inf alone has its maximum; there differences stay -inf, and are no NaN.
__device__ __forceinline__ float finite_or_zero(float maximum) {
  return maximum == kNegativeInfinity ? 0.0f : maximum;
}

// Exponentials by powers of 2. The difference comes before the factor: next to a large maximum one fused operation would be off
// by its rounding.
struct Exponentials {
  float scale;  // log2(e) / temperature
  __device__ __forceinline__ float of(float difference) const { return fast_exp2(difference * scale); }

  __device__ __forceinline__ void add(Stats& stats, float v) const {
    const float maximum = fmaxf(stats.maximum, v);
    const float reference = finite_or_zero(maximum);
    stats.sum = fmaf(stats.sum, of(stats.maximum - reference), of(v - reference));
    stats.maximum = maximum;
  }
  // Elements that came by one load: their sum by itself, and one step for all of them.
  template <int kCount>
  __device__ __forceinline__ void add(Stats& stats, const Vec<float, kCount>& v) const {
    float maximum = stats.maximum;
#pragma unroll
    for (int e = 0; e < kCount; ++e) maximum = fmaxf(maximum, v[e]);
    const float reference = finite_or_zero(maximum);
    float sum = of(v[0] - reference);
#pragma unroll
    for (int e = 1; e < kCount; ++e) sum += of(v[e] - reference);
    stats.sum = fmaf(stats.sum, of(stats.maximum - reference), sum);
    stats.maximum = maximum;
  }
  __device__ __forceinline__ Stats combined(const Stats& a, const Stats& b) const {
    const float maximum = fmaxf(a.maximum, b.maximum);
    const float reference = finite_or_zero(maximum);
    return {maximum, a.sum * of(a.maximum - reference) + b.sum * of(b.maximum - reference)};
  }
  // Over groups of neighbouring lanes: the maximum first, then sums that have it in common.
  template <class Lanes>
  __device__ __forceinline__ Stats over_lanes(Lanes, const Stats& own) const {
    const float maximum =
        lanes_reduce<Lanes::value>(own.maximum, [](float a, float b) { return fmaxf(a, b); });
    const float sum = own.sum * of(own.maximum - finite_or_zero(maximum));
    return {maximum, lanes_reduce<Lanes::value>(sum, [](float a, float b) { return a + b; })};
  }
};

// From a row's elements to its results.
struct Results {
  Exponentials exponentials;
  float reference;
  float factor;      // of the exponential, or of the difference
  float subtrahend;  // the sum's logarithm
  bool log;

  __device__ __forceinline__ static Results of(const Exponentials& exponentials, float inverse_temperature,
                                               bool log, const Stats& stats) {
    const bool is_empty = stats.sum == 0.0f;  // of -inf alone
    return {exponentials, finite_or_zero(stats.maximum),
            log        ? inverse_temperature
            : is_empty ? 0.0f
                       : 1.0f / stats.sum,
            is_empty ? 0.0f : logf(stats.sum), log};
  }
  template <bool kLog>
  __device__ __forceinline__ float of(float v) const {
    if constexpr (kLog) return fmaf(v - reference, factor, -subtrahend);
    return exponentials.of(v - reference) * factor;
  }
};

// The results of elements that lie side by side.
template <bool kLog, class T, int kCount>
__device__ __forceinline__ Vec<T, kCount> results_of(const Results& results, const Vec<T, kCount>& vec) {
  Vec<T, kCount> made;
#pragma unroll
  for (int e = 0; e < kCount; ++e) made[e] = rounded<T>(results.of<kLog>(static_cast<float>(vec[e])));
  return made;
}

// A call's tensors, and where a row begins in each.
template <class T>
struct Operands {
  RowPlaces<kTensors> places;
  const T* g_x;
  const T* g_bias;             // null: none
  const std::uint8_t* g_mask;  // null: none
  T* g_y;
  std::int64_t passing;  // as the cut has it
  Exponentials exponentials;
  float inverse_temperature;
  bool log;

  [[nodiscard]] __device__ __forceinline__ const T* x(std::int64_t row) const {
    return g_x + places.offset(kX, row);
  }
  [[nodiscard]] __device__ __forceinline__ T* y(std::int64_t row) const {
    return g_y + places.offset(kY, row);
  }
  [[nodiscard]] __device__ __forceinline__ Results results(const Stats& stats) const {
    return Results::of(exponentials, inverse_temperature, log, stats);
  }
};

// Elements of one row, one by one, with bias and mask, whatever strides they have.
template <class T>
struct RowElements {
  const T* g_x;
  const T* g_bias;
  const std::uint8_t* g_mask;
  T* g_y;
  const Rows<kTensors>& rows;

  __device__ __forceinline__ RowElements(const Operands<T>& call, std::int64_t row)
      : g_x(call.x(row)),
        g_bias(call.g_bias == nullptr ? nullptr : call.g_bias + call.places.offset(kBias, row)),
        g_mask(call.g_mask == nullptr ? nullptr : call.g_mask + call.places.offset(kMask, row)),
        g_y(call.y(row)),
        rows(call.places.rows) {}
  [[nodiscard]] __device__ __forceinline__ float value(std::int64_t j) const {
    if (g_mask != nullptr && g_mask[j * rows.tensors[kMask].step] == 0) return kNegativeInfinity;
    const auto x = static_cast<float>(g_x[j * rows.tensors[kX].step]);
    return g_bias == nullptr ? x : x + static_cast<float>(g_bias[j * rows.tensors[kBias].step]);
  }
  __device__ __forceinline__ void store(std::int64_t j, float result) const {
    g_y[j * rows.tensors[kY].step] = rounded<T>(result);
  }
};

// The results of elements first, first + step ... of a row.
template <class T>
__device__ __forceinline__ void write_elements(const RowElements<T>& row, const Results& results,
                                               std::int64_t first, std::int64_t step) {
  for (std::int64_t j = first; j < row.rows.length; j += step)
    row.store(j, results.log ? results.of<true>(row.value(j)) : results.of<false>(row.value(j)));
}

template <class T>
Operands<T> operands_of(const Call<SoftmaxArgs>& call) {
  const SoftmaxArgs& args = call.args;
  const double inverse = args.temperature > 0 ? 1 / args.temperature : 1.0;
  constexpr double kLog2E = 1.4426950408889634;
  return {.places = RowPlaces<kTensors>::of(call.config<Cut>().rows),
          .g_x = static_cast<const T*>(args.x.data),
          .g_bias = static_cast<const T*>(is_absent(args.bias) ? nullptr : args.bias.data),
          .g_mask = static_cast<const std::uint8_t*>(is_absent(args.mask) ? nullptr : args.mask.data),
          .g_y = static_cast<T*>(args.y.data),
          .passing = call.config<Cut>().passing,
          .exponentials = {static_cast<float>(kLog2E * inverse)},
          .inverse_temperature = static_cast<float>(inverse),
          .log = args.log};
}

// Calls body.operator()<T>(). In the checked build one dtype goes through every path, but of vectors, whose elements it may
// have more of.
template <class Checked = DTypes<float>, class Body>
Status dispatch_floats(const SoftmaxArgs& args, Body&& body) {
  return dispatch(CompiledDTypes<DTypes<float, __half, __nv_bfloat16>, Checked>{}, args.x.dtype,
                  std::forward<Body>(body));
}

inline constexpr std::int64_t kMostBlocks = 2147483647;

// A kernel of this call's operands; `rows_per_block` of them to a block.
template <class T>
Status launch_rows(const Call<SoftmaxArgs>& call, void (*kernel)(Operands<T>), int threads,
                   int rows_per_block) {
  const Rows<kTensors>& rows = call.config<Cut>().rows;
  if (rows.is_empty()) return {};
  const std::int64_t blocks = ceil_div(rows.count, rows_per_block);
  if (blocks > kMostBlocks) return unsupported("more than 2^31 - 1 blocks: call it for a part of the rows");
  return launch(kernel,
                {.grid = dim3(static_cast<unsigned>(blocks)),
                 .block = dim3(static_cast<unsigned>(threads)),
                 .stream = call.stream},
                operands_of<T>(call));
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
