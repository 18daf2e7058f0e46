// What the CPU rungs of softmax_backward share: one row, in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/softmax_backward/softmax_backward_plan.h"

namespace rooftile::cpu::softmax_backward_rungs {

using softmax_backward_plan::kDx, softmax_backward_plan::kDy, softmax_backward_plan::kTensors,
    softmax_backward_plan::kY;

template <class T>
void backward_row(const SoftmaxBackwardArgs& args, const Rows<kTensors>& rows, std::int64_t r) {
  const auto offset = [&](std::size_t tensor) {
    const RowPitch& place = rows.tensors[tensor];
    return r / rows.inner * place.outer_pitch + r % rows.inner * place.pitch;
  };
  const auto number = [](T x) {
    if constexpr (std::is_same_v<T, float>) {
      return static_cast<double>(x);
    } else {
      return static_cast<double>(to_float(x));
    }
  };
  const T* y_row = static_cast<const T*>(args.y.data) + offset(kY);
  const T* dy_row = static_cast<const T*>(args.dy.data) + offset(kDy);
  T* dx_row = static_cast<T*>(args.dx.data) + offset(kDx);
  const auto y = [&](std::int64_t j) { return number(y_row[j * rows.tensors[kY].step]); };
  const auto dy = [&](std::int64_t j) { return number(dy_row[j * rows.tensors[kDy].step]); };
  double sum = 0;
  for (std::int64_t j = 0; j < rows.length; ++j) sum += args.log ? dy(j) : dy(j) * y(j);
  for (std::int64_t j = 0; j < rows.length; ++j) {
    const double slope = args.log ? dy(j) - std::exp(y(j)) * sum : (dy(j) - sum) * y(j);
    T& target = dx_row[j * rows.tensors[kDx].step];
    if constexpr (std::is_same_v<T, float>) {
      target = static_cast<float>(slope / args.temperature);
    } else {
      store_from_double(&target, dtype_of<T>, slope / args.temperature);
    }
  }
}

// `for_all(count, body)` runs body(row) for all of them.
template <class ForAll>
Status run_rows(const Call<SoftmaxBackwardArgs>& call, const ForAll& for_all) {
  const Rows<kTensors> rows = softmax_backward_plan::geometry(call.args);
  return dispatch(DTypes<float, Float16, BFloat16>{}, call.args.y.dtype, [&]<class T>() -> Status {
    for_all(rows.count, [&](std::int64_t r) { backward_row<T>(call.args, rows, r); });
    return {};
  });
}

}  // namespace rooftile::cpu::softmax_backward_rungs
