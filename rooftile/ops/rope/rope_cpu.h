// What the CPU rungs of rope share: all heads of one token, in double.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/rope/rope_plan.h"

namespace rooftile::cpu::rope_rungs {

using rope_plan::Cut, rope_plan::Strides, rope_plan::Turns;

template <class T>
double number(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<double>(x);
  } else {
    return static_cast<double>(to_float(x));
  }
}
template <class T>
void store(T* target, double value) {
  if constexpr (std::is_same_v<T, float>) {
    *target = static_cast<float>(value);
  } else {
    store_from_double(target, dtype_of<T>, value);
  }
}

template <class T>
void turn_token(const RopeArgs& args, const Cut& cut, const Turns& turns, std::int64_t batch,
                std::int64_t token) {
  double position = static_cast<double>(token);
  if (!is_absent(args.positions)) {
    const std::int64_t at = batch * cut.position_batch + token * cut.position_token;
    position = args.positions.dtype == DType::i64
                   ? static_cast<double>(static_cast<const std::int64_t*>(args.positions.data)[at])
                   : static_cast<double>(static_cast<const std::int32_t*>(args.positions.data)[at]);
  }
  std::array<double, rope_plan::kMostPairs> cosines;
  std::array<double, rope_plan::kMostPairs> sines;
  const auto pairs = static_cast<std::size_t>(cut.pairs());
  for (std::size_t i = 0; i < pairs; ++i) {
    const double all = position * turns.of[i];
    const double angle = 2 * std::numbers::pi * (all - std::rint(all));
    cosines[i] = std::cos(angle);
    sines[i] = args.inverse ? -std::sin(angle) : std::sin(angle);
  }
  for (std::int64_t h = 0; h < cut.heads(); ++h) {
    const bool is_q = h < cut.q_heads;
    const Strides& from = is_q ? cut.q : cut.k;
    const Strides& to = is_q ? cut.q_out : cut.k_out;
    const std::int64_t head = is_q ? h : h - cut.q_heads;
    const T* x = static_cast<const T*>(is_q ? args.q.data : args.k.data) + batch * from.batch +
                 token * from.token + head * from.head;
    T* y = static_cast<T*>(is_q ? args.q_out.data : args.k_out.data) + batch * to.batch + token * to.token +
           head * to.head;
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto pair = static_cast<std::int64_t>(i);
      const std::int64_t first = args.form == RopeForm::interleaved ? 2 * pair : pair;
      const std::int64_t second = args.form == RopeForm::interleaved ? 2 * pair + 1 : pair + cut.pairs();
      const double a = number(x[first * from.step]);
      const double b = number(x[second * from.step]);
      store(y + first * to.step, a * cosines[i] - b * sines[i]);
      store(y + second * to.step, b * cosines[i] + a * sines[i]);
    }
    for (std::int64_t e = cut.rotary; e < cut.width; ++e) y[e * to.step] = x[e * from.step];
  }
}

// `for_all(count, body)` runs body(token of all) for all of them.
template <class ForAll>
Status run_tokens(const Call<RopeArgs>& call, const ForAll& for_all) {
  const Cut cut = rope_plan::cut_of(call.args);
  const Turns turns = rope_plan::turns_of(call.args);
  return dispatch(DTypes<float, Float16, BFloat16>{}, call.args.q.dtype, [&]<class T>() -> Status {
    for_all(cut.batches * cut.tokens, [&](std::int64_t token) {
      turn_token<T>(call.args, cut, turns, token / cut.tokens, token % cut.tokens);
    });
    return {};
  });
}

}  // namespace rooftile::cpu::rope_rungs
