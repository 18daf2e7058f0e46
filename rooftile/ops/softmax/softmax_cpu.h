// What the CPU rungs of softmax share: a call's tensors, and elements as floats.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/softmax/softmax_plan.h"

namespace rooftile::cpu::softmax_rungs {

using softmax_plan::kBias, softmax_plan::kMask, softmax_plan::kTensors, softmax_plan::kX, softmax_plan::kY;

template <class T>
float number(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    return to_float(x);
  }
}

template <class T>
struct Row {
  const T* x;
  const T* bias;             // null: none
  const std::uint8_t* mask;  // null: none
  T* y;
  const Rows<kTensors>& rows;

  [[nodiscard]] float value(std::int64_t j) const {
    if (mask != nullptr && mask[j * rows.tensors[kMask].step] == 0)
      return -std::numeric_limits<float>::infinity();
    const float v = number(x[j * rows.tensors[kX].step]);
    return bias == nullptr ? v : v + number(bias[j * rows.tensors[kBias].step]);
  }
  void store(std::int64_t j, double result) const {
    T* target = y + j * rows.tensors[kY].step;
    if constexpr (std::is_same_v<T, float>) {
      *target = static_cast<float>(result);
    } else {
      store_from_double(target, dtype_of<T>, result);
    }
  }
};

template <class T>
Row<T> row_of(const SoftmaxArgs& args, const Rows<kTensors>& rows, std::int64_t r) {
  const auto offset = [&](std::size_t tensor) {
    const RowPitch& place = rows.tensors[tensor];
    return r / rows.inner * place.outer_pitch + r % rows.inner * place.pitch;
  };
  return {static_cast<const T*>(args.x.data) + offset(kX),
          is_absent(args.bias) ? nullptr : static_cast<const T*>(args.bias.data) + offset(kBias),
          is_absent(args.mask) ? nullptr : static_cast<const std::uint8_t*>(args.mask.data) + offset(kMask),
          static_cast<T*>(args.y.data) + offset(kY), rows};
}

// Calls body.operator()<T>().
template <class Body>
Status dispatch_floats(const SoftmaxArgs& args, Body&& body) {
  return dispatch(DTypes<float, Float16, BFloat16>{}, args.x.dtype, std::forward<Body>(body));
}

}  // namespace rooftile::cpu::softmax_rungs
