// What the CPU rungs of dropout share: a range of groups of eight elements.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/philox.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/dropout/dropout_plan.h"

namespace rooftile::cpu::dropout_rungs {

using dropout_plan::Rule;

inline constexpr std::int64_t kGroup = 8;  // elements: a byte of bits

template <class T>
float number(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    return to_float(x);
  }
}

inline bool is_kept(const DropoutArgs& args, const Rule& rule, std::uint64_t stream, std::int64_t i) {
  if (rule.none_kept) return false;
  if (args.training && !is_absent(args.kept)) {
    const auto* kept = static_cast<const std::uint8_t*>(args.kept.data);
    return args.form == MaskForm::bits ? (kept[i / 8] >> (i % 8) & 1) != 0 : kept[i] != 0;
  }
  if (rule.all_kept) return true;
  const PhiloxCounter words = philox4x32_10(philox_counter(static_cast<std::uint64_t>(i / 4), stream),
                                            philox_key(static_cast<std::uint64_t>(args.seed)));
  const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
  return word[i % 4] >= rule.threshold;
}

template <class T>
void drop_group(const DropoutArgs& args, const Rule& rule, std::uint64_t stream, std::int64_t group) {
  const std::int64_t count = args.x.numel();
  const std::int64_t columns = dropout_plan::columns_of(args);
  const Rows<dropout_plan::kTensors> rows = dropout_plan::geometry(args);
  const bool is_dense = dropout_plan::is_dense(args);
  const auto offset = [&](std::size_t tensor, std::int64_t i) {
    if (is_dense) return i;
    const RowPitch& place = rows.tensors[tensor];
    const std::int64_t row = i / columns;
    return row / rows.inner * place.outer_pitch + row % rows.inner * place.pitch + i % columns * place.step;
  };
  const auto at = [&](const ConstTensorView& view, std::size_t tensor, std::int64_t i) {
    return is_absent(view) ? 0.0f : number(static_cast<const T*>(view.data)[offset(tensor, i)]);
  };
  const bool has_mask = args.form != MaskForm::none && !is_absent(args.mask);
  auto* mask = static_cast<std::uint8_t*>(has_mask ? args.mask.data : nullptr);
  unsigned bits = 0;
  for (std::int64_t i = group * kGroup; i < smaller(count, (group + 1) * kGroup); ++i) {
    const bool kept = is_kept(args, rule, stream, i);
    if (kept) bits |= 1u << (i % kGroup);
    const double residual = at(args.residual, dropout_plan::kResidual, i);
    const float bias =
        is_absent(args.bias) ? 0.0f : number(static_cast<const T*>(args.bias.data)[i % columns]);
    const double v = at(args.x, dropout_plan::kX, i) + bias;
    const double y = kept ? v * static_cast<double>(rule.scale) + residual : residual;
    T* target = static_cast<T*>(args.y.data) + offset(dropout_plan::kY, i);
    if constexpr (std::is_same_v<T, float>) {
      *target = static_cast<float>(y);
    } else {
      store_from_double(target, dtype_of<T>, y);
    }
    if (has_mask && args.form == MaskForm::bytes) mask[i] = kept ? 1 : 0;
  }
  if (has_mask && args.form == MaskForm::bits) mask[group] = static_cast<std::uint8_t>(bits);
}

// `for_all(count, body)` runs body(group) for all of them.
template <class ForAll>
Status run_groups(const Call<DropoutArgs>& call, const ForAll& for_all) {
  const DropoutArgs& args = call.args;
  const Rule rule = dropout_plan::rule_of(args);
  auto* counter = static_cast<std::int64_t*>(is_absent(args.counter) ? nullptr : args.counter.data);
  const auto stream =
      static_cast<std::uint64_t>(dropout_plan::stream_of(args, counter == nullptr ? 0 : *counter));
  ROOFTILE_TRY(dispatch(DTypes<float, Float16, BFloat16>{}, args.x.dtype, [&]<class T>() -> Status {
    for_all(ceil_div(args.x.numel(), kGroup),
            [&](std::int64_t group) { drop_group<T>(args, rule, stream, group); });
    return {};
  }));
  if (args.x.numel() > 0 && counter != nullptr && dropout_plan::advances(args)) ++*counter;
  return {};
}

}  // namespace rooftile::cpu::dropout_rungs
