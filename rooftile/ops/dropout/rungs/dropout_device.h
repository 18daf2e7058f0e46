// What the rungs of dropout share: a call's tensors, which elements are kept, and from arguments to types.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "rooftile/core/philox.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/fast_divide.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/rounded.h"
#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/dropout/dropout_plan.h"

namespace rooftile::ROOFTILE_TARGET::dropout_rungs {

using dropout_plan::kBlock, dropout_plan::Rule;

inline constexpr int kWords = 4;  // of a call of Philox

template <class T>
struct Operands {
  const T* g_x;
  const T* g_bias;                // null: none
  const T* g_residual;            // null: none
  const std::uint8_t* g_kept;     // null: by Philox
  const std::int64_t* g_counter;  // null: none
  T* g_y;
  std::uint8_t* g_mask;  // null: none
  std::int64_t count;
  FastDivisor<std::uint64_t> by_columns;
  Rule rule;
  PhiloxKey key;
  std::int64_t offset;
  bool is_bits;

  [[nodiscard]] __device__ __forceinline__ std::uint64_t stream() const {
    const std::int64_t counted = g_counter == nullptr ? 0 : *g_counter;
    return static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(counted);
  }
  // Which of elements 4 quad ... 4 quad + 3 are kept, a bit each; those that there are not, are not.
  [[nodiscard]] __device__ __forceinline__ unsigned kept_of(std::int64_t quad, std::uint64_t stream) const {
    const std::int64_t first = quad * kWords;
    constexpr unsigned kAll = (1u << kWords) - 1u;
    unsigned kept = kAll;
    if (first >= count || rule.none_kept) return 0;
    if (g_kept != nullptr) {
      if (is_bits) {
        kept = static_cast<unsigned>(g_kept[quad / 2] >> (quad % 2 * kWords)) & kAll;
      } else {
        kept = 0;
#pragma unroll
        for (int w = 0; w < kWords; ++w)
          if (first + w < count && g_kept[first + w] != 0) kept |= 1u << w;
      }
    } else if (!rule.all_kept) {
      const PhiloxCounter words =
          philox4x32_10(philox_counter(static_cast<std::uint64_t>(quad), stream), key);
      const std::uint32_t word[kWords] = {words.x, words.y, words.z, words.w};
      kept = 0;
#pragma unroll
      for (int w = 0; w < kWords; ++w)
        if (word[w] >= rule.threshold) kept |= 1u << w;
    }
    const std::int64_t left = count - first;
    return left < kWords ? kept & ((1u << left) - 1u) : kept;
  }
  [[nodiscard]] __device__ __forceinline__ float result(float v, bool is_kept, float residual) const {
    return is_kept ? fmaf(v, rule.scale, residual) : residual;
  }
};

template <class T>
Operands<T> operands_of(const Call<DropoutArgs>& call) {
  const DropoutArgs& args = call.args;
  const auto input = [](const ConstTensorView& view) {
    return static_cast<const T*>(is_absent(view) ? nullptr : view.data);
  };
  const bool uses_stream = args.training && is_absent(args.kept) && !is_absent(args.counter);
  return {
      .g_x = input(args.x),
      .g_bias = input(args.bias),
      .g_residual = input(args.residual),
      .g_kept =
          static_cast<const std::uint8_t*>(args.training && !is_absent(args.kept) ? args.kept.data : nullptr),
      .g_counter = static_cast<const std::int64_t*>(uses_stream ? args.counter.data : nullptr),
      .g_y = static_cast<T*>(args.y.data),
      .g_mask = static_cast<std::uint8_t*>(
          args.form == MaskForm::none || is_absent(args.mask) ? nullptr : args.mask.data),
      .count = args.x.numel(),
      .by_columns =
          FastDivisor<std::uint64_t>(static_cast<std::uint64_t>(larger(1, dropout_plan::columns_of(args)))),
      .rule = dropout_plan::rule_of(args),
      .key = philox_key(static_cast<std::uint64_t>(args.seed)),
      .offset = dropout_plan::stream_of(args, 0),
      .is_bits = args.form == MaskForm::bits};
}

// Calls body.operator()<T>().
template <class Checked = DTypes<float>, class Body>
Status dispatch_floats(const DropoutArgs& args, Body&& body) {
  return dispatch(CompiledDTypes<DTypes<float, __half, __nv_bfloat16>, Checked>{}, args.x.dtype,
                  std::forward<Body>(body));
}

// When all elements have had their stream.
static __global__ void advance_kernel(std::int64_t* g_counter) { *g_counter += 1; }

// A kernel of this call's operands, and of `more`; then the counter.
template <class T, class... More>
Status launch_elements(const Call<DropoutArgs>& call, void (*kernel)(Operands<T>, More...),
                       std::int64_t elements_per_thread, const More&... more) {
  const Operands<T> operands = operands_of<T>(call);
  if (operands.count == 0) return {};
  const std::int64_t blocks = ceil_div(operands.count, elements_per_thread * kBlock);
  constexpr std::int64_t kMostBlocks = 2147483647;
  if (blocks > kMostBlocks) return unsupported("more than 2^31 - 1 blocks: call it for a part of the tensor");
  ROOFTILE_TRY(launch(
      kernel, {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = call.stream},
      operands, more...));
  if (!dropout_plan::advances(call.args)) return {};
  return launch(advance_kernel, {.grid = dim3(1), .block = dim3(1), .stream = call.stream},
                static_cast<std::int64_t*>(call.args.counter.data));
}

}  // namespace rooftile::ROOFTILE_TARGET::dropout_rungs
