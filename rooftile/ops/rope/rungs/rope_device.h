// What the rungs of rope share: a call's tensors, angles, and from arguments to types.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/fast_divide.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/rounded.h"
#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/rope/rope_plan.h"

namespace rooftile::ROOFTILE_TARGET::rope_rungs {

using rope_plan::Cut, rope_plan::kBlock, rope_plan::Strides, rope_plan::Turns;

// An angle's cosine and sine.
struct Angle {
  float cosine;
  float sine;
};

// The fraction of a turn is exact to 2^-30 of one up to positions of 2^22 and turns of one a step: what double has, less what
// whole turns take.
__device__ __forceinline__ Angle angle_of(double turns, bool inverse) {
  const auto fraction = static_cast<float>(turns - rint(turns));
  Angle angle;
  sincospif(2.0f * fraction, &angle.sine, &angle.cosine);
  if (inverse) angle.sine = -angle.sine;
  return angle;
}

struct Pair {
  float a;
  float b;
};
__device__ __forceinline__ Pair turned(float a, float b, const Angle& angle) {
  return {fmaf(-b, angle.sine, a * angle.cosine), fmaf(a, angle.sine, b * angle.cosine)};
}

template <class T>
struct Operands {
  Cut cut;
  const T* g_q;
  const T* g_k;
  T* g_q_out;
  T* g_k_out;
  const std::int32_t* g_positions32;  // null: the other, or none
  const std::int64_t* g_positions64;
  bool interleaved;
  bool inverse;

  [[nodiscard]] __device__ __forceinline__ double position(std::int64_t batch, std::int64_t token) const {
    const std::int64_t at = batch * cut.position_batch + token * cut.position_token;
    if (g_positions32 != nullptr) return static_cast<double>(g_positions32[at]);
    return static_cast<double>(g_positions64 != nullptr ? g_positions64[at] : token);
  }
  // Where a head begins: those of q first, then those of k.
  [[nodiscard]] __device__ __forceinline__ const T* head(std::int64_t batch, std::int64_t token,
                                                         std::int64_t h) const {
    return h < cut.q_heads ? g_q + place(cut.q, batch, token, h)
                           : g_k + place(cut.k, batch, token, h - cut.q_heads);
  }
  [[nodiscard]] __device__ __forceinline__ T* target(std::int64_t batch, std::int64_t token,
                                                     std::int64_t h) const {
    return h < cut.q_heads ? g_q_out + place(cut.q_out, batch, token, h)
                           : g_k_out + place(cut.k_out, batch, token, h - cut.q_heads);
  }
  // Turns pair i of a head, or copies what is beyond the pairs: elements rotary + 2 (i - pairs) and the one behind it.
  __device__ __forceinline__ void turn_pair(std::int64_t batch, std::int64_t token, std::int64_t h,
                                            std::int64_t i, const Angle& angle) const {
    const std::int64_t in_step = h < cut.q_heads ? cut.q.step : cut.k.step;
    const std::int64_t out_step = h < cut.q_heads ? cut.q_out.step : cut.k_out.step;
    const T* g_from = head(batch, token, h);
    T* g_to = target(batch, token, h);
    const std::int64_t pairs = cut.rotary / 2;
    if (i >= pairs) {
      for (std::int64_t e = cut.rotary + 2 * (i - pairs), last = e + 2; e < last && e < cut.width; ++e)
        g_to[e * out_step] = g_from[e * in_step];
      return;
    }
    const std::int64_t a = interleaved ? 2 * i : i;
    const std::int64_t b = interleaved ? 2 * i + 1 : i + pairs;
    const Pair pair =
        turned(static_cast<float>(g_from[a * in_step]), static_cast<float>(g_from[b * in_step]), angle);
    g_to[a * out_step] = rounded<T>(pair.a);
    g_to[b * out_step] = rounded<T>(pair.b);
  }

 private:
  __device__ __forceinline__ static std::int64_t place(const Strides& strides, std::int64_t batch,
                                                       std::int64_t token, std::int64_t h) {
    return batch * strides.batch + token * strides.token + h * strides.head;
  }
};

template <class T>
Operands<T> operands_of(const Call<RopeArgs>& call) {
  const RopeArgs& args = call.args;
  const auto input = [](const ConstTensorView& view) {
    return static_cast<const T*>(is_absent(view) ? nullptr : view.data);
  };
  const bool has_positions = !is_absent(args.positions);
  const bool is_wide = has_positions && args.positions.dtype == DType::i64;
  return {.cut = call.config<Cut>(),
          .g_q = input(args.q),
          .g_k = input(args.k),
          .g_q_out = static_cast<T*>(args.q_out.data),
          .g_k_out = static_cast<T*>(is_absent(args.k) ? nullptr : args.k_out.data),
          .g_positions32 =
              has_positions && !is_wide ? static_cast<const std::int32_t*>(args.positions.data) : nullptr,
          .g_positions64 = is_wide ? static_cast<const std::int64_t*>(args.positions.data) : nullptr,
          .interleaved = args.form == RopeForm::interleaved,
          .inverse = args.inverse};
}

// Calls body.operator()<T>(). In the checked build one dtype goes through every path, but of vectors, whose elements it may
// have more of.
template <class Checked = DTypes<float>, class Body>
Status dispatch_floats(const RopeArgs& args, Body&& body) {
  return dispatch(CompiledDTypes<DTypes<float, __half, __nv_bfloat16>, Checked>{}, args.q.dtype,
                  std::forward<Body>(body));
}

// Which of `count` things in a row, and of what is around them.
struct Split {
  FastDivisor<std::uint64_t> by;
  struct Parts {
    std::int64_t outer;
    std::int64_t inner;
  };
  static Split of(std::int64_t count) {
    return {FastDivisor<std::uint64_t>(static_cast<std::uint64_t>(larger(1, count)))};
  }
  [[nodiscard]] __device__ __forceinline__ Parts operator()(std::int64_t i) const {
    const auto parts = by.divide_with_remainder(static_cast<std::uint64_t>(i));
    return {static_cast<std::int64_t>(parts.quotient), static_cast<std::int64_t>(parts.remainder)};
  }
};

// How a thread's number is taken apart: pair, head, token, batch.
struct Places {
  Split pairs, heads, tokens;
  std::int64_t count;

  // `pairs`: of a head, with those that are copied.
  static Places of(const Cut& cut) {
    const std::int64_t pairs = (cut.width + 1) / 2;
    return {Split::of(pairs), Split::of(cut.heads()), Split::of(cut.tokens),
            cut.batches * cut.tokens * cut.heads() * pairs};
  }
};

inline constexpr std::int64_t kMostBlocks = 2147483647;

inline Status launch_config(std::int64_t threads, StreamRef stream, LaunchConfig& config) {
  const std::int64_t blocks = ceil_div(threads, kBlock);
  if (blocks > kMostBlocks) return unsupported("more than 2^31 - 1 blocks: call it for a part of the batch");
  config = {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = stream};
  return {};
}

// A thread for each pair of each head: angle(pair, batch, token) gives what it is turned by.
template <class T, class AngleOf>
__device__ __forceinline__ void turn_each(const Operands<T>& call, const Places& places, AngleOf angle) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (thread >= places.count) return;
  const auto [rest, pair] = places.pairs(thread);
  const auto [token_of_all, head] = places.heads(rest);
  const auto [batch, token] = places.tokens(token_of_all);
  Angle by{1, 0};
  if (pair < call.cut.rotary / 2) by = angle(pair, batch, token);
  call.turn_pair(batch, token, head, pair, by);
}

}  // namespace rooftile::ROOFTILE_TARGET::rope_rungs
