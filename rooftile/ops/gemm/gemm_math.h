// The activations: what the CPU rungs and the kernels compute with.
#pragma once

#include <cmath>

#include "rooftile/core/host_device.h"
#include "rooftile/ops/gemm/gemm.h"

namespace rooftile::ROOFTILE_TARGET::gemm_math {

// x / (1 + e^-y), where y grows with x: 0 and not NaN where x is -infinity.
template <class T>
ROOFTILE_HOST_DEVICE inline T gated(T x, T y) {
  constexpr T kFar = -1000;  // the quotient is 0 there
  return (x < kFar ? kFar : x) / (T{1} + std::exp(-y));
}

template <class T>
ROOFTILE_HOST_DEVICE inline T activated(GemmActivation activation, T x) {
  constexpr T kRootHalf = static_cast<T>(0.70710678118654752440084436210485);
  constexpr T kTwiceRoot = static_cast<T>(1.5957691216057307117597842397375);  // 2 sqrt(2 / pi)
  constexpr T kFar = -1000;
  switch (activation) {
    case GemmActivation::none:
      return x;
    case GemmActivation::relu:
      return x < T{0} ? T{0} : x;
    case GemmActivation::gelu_erf:
      return T{0.5} * (x < kFar ? kFar : x) * std::erfc(-x * kRootHalf);
    case GemmActivation::gelu_tanh:
    case GemmActivation::gelu_tanh_approx:  // x / 2 (1 + tanh(u)) = x sigmoid(2 u)
      return gated(x, kTwiceRoot * (x + static_cast<T>(0.044715) * x * x * x));
    case GemmActivation::silu:
      return gated(x, x);
    case GemmActivation::sigmoid:
      return T{1} / (T{1} + std::exp(-x));
  }
  return x;
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_math
