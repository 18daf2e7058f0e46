// The functions, element by element: what the CPU rungs and the kernels compute with. Acc is float, double, std::int64_t
// or std::uint64_t.
//
// with_function<Acc>(op, numbers, body) calls body(length, f) with f(x, y, z) for the function `op`: the switch stands
// outside of the loop over elements, which is body's. `length` is Short of a few instructions, or Long.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/core/host_device.h"
#include "rooftile/ops/elementwise/elementwise.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_math {

struct Short {};
struct Long {};

// saxpy's and clamp's, in what is computed in.
template <class Acc>
struct Numbers {
  Acc alpha;
  Acc low;
  Acc high;
};

template <class Acc>
inline constexpr bool kIsReal = std::is_floating_point_v<Acc>;

template <class Acc>
ROOFTILE_HOST_DEVICE inline bool is_negative(Acc x) {
  if constexpr (std::is_signed_v<Acc>)
    return x < Acc{0};
  else
    return false;  // unsigned
}

// Sums, differences and products of integers are taken modulo 2^64.
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc add(Acc x, Acc y) {
  if constexpr (kIsReal<Acc>) return x + y;
  return static_cast<Acc>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
}
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc subtract(Acc x, Acc y) {
  if constexpr (kIsReal<Acc>) return x - y;
  return static_cast<Acc>(static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y));
}
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc multiply(Acc x, Acc y) {
  if constexpr (kIsReal<Acc>) return x * y;
  return static_cast<Acc>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
}
ROOFTILE_HOST_DEVICE inline float multiply_add(float x, float y, float z) { return fmaf(x, y, z); }
ROOFTILE_HOST_DEVICE inline double multiply_add(double x, double y, double z) { return fma(x, y, z); }
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc multiply_add(Acc x, Acc y, Acc z) {
  return add(multiply(x, y), z);
}
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc divide(Acc x, Acc y) {
  if constexpr (!kIsReal<Acc>) {
    if (y == 0) return 0;
    if (std::is_signed_v<Acc> && y == static_cast<Acc>(-1)) return subtract(Acc{0}, x);
  }
  return x / y;
}
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc smaller_or_nan(Acc x, Acc y) {
  return x < y || x != x ? x : y;
}
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc larger_or_nan(Acc x, Acc y) {
  return x > y || x != x ? x : y;
}
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc clamp(Acc x, Acc low, Acc high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc negative(Acc x) {
  if constexpr (kIsReal<Acc>) return -x;
  return subtract(Acc{0}, x);
}
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc absolute(Acc x) {
  if constexpr (kIsReal<Acc>) return x < 0 ? -x : x == 0 ? Acc{0} : x;
  return is_negative(x) ? subtract(Acc{0}, x) : x;
}

ROOFTILE_HOST_DEVICE inline float reciprocal_root(float x) {
#if defined(__CUDA_ARCH__)
  return rsqrtf(x);
#else
  return 1.0f / sqrtf(x);
#endif
}
ROOFTILE_HOST_DEVICE inline double reciprocal_root(double x) { return 1.0 / sqrt(x); }

// a / b where b is 1 or more: off by 2 units in the last place, and 0 from 2^126 on.
ROOFTILE_HOST_DEVICE inline float quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdividef(a, b);
#else
  return a / b;
#endif
}
ROOFTILE_HOST_DEVICE inline double quotient(double a, double b) { return a / b; }

template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc sigmoid(Acc x) {
  return quotient(Acc{1}, Acc{1} + std::exp(-x));
}
ROOFTILE_HOST_DEVICE inline float power_of_two(float x) { return exp2f(x); }
ROOFTILE_HOST_DEVICE inline double power_of_two(double x) { return exp2(x); }

// x sigmoid(y), where y grows with x: 0 and not NaN where x is -infinity.
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc gated(Acc x, Acc y) {
  constexpr Acc kFar = -1000;  // sigmoid is 0 there
  return quotient(x < kFar ? kFar : x, Acc{1} + std::exp(-y));
}
// x / 2 (1 + tanh(u)) = x sigmoid(2 u) = x / (1 + 2^(-2 u log2(e))): one power, and nothing cancels.
template <class Acc>
ROOFTILE_HOST_DEVICE inline Acc gelu_tanh(Acc x) {
  constexpr double kTwice =
      1.5957691216057307117597842397375 * 1.4426950408889634073599246810019;  // 2 sqrt(2 / pi) log2(e)
  constexpr auto kLinear = static_cast<Acc>(-kTwice);
  constexpr auto kCubed = static_cast<Acc>(-kTwice * 0.044715);
  constexpr Acc kFar = -1000;
  return quotient(x < kFar ? kFar : x, Acc{1} + power_of_two(x * (kLinear + kCubed * x * x)));
}
// x Phi(x). Half of x erfc(|x| / sqrt(2)) is what x lacks where it is positive, and all that is left of it where it is
// negative. erfc by a polynomial and one power: off by 1.5e-7, some roundings of 1. Source: Abramowitz and Stegun,
// Handbook of Mathematical Functions, 7.1.26.
ROOFTILE_HOST_DEVICE inline float gelu_erf(float x) {
  const float far =
      fabsf(x) > 1000.0f ? 1000.0f : fabsf(x);  // nothing is left there, and 0 times infinity is NaN
  const float z = far * 0.70710678f;
  const float t = quotient(1.0f, 1.0f + 0.3275911f * z);
  const float polynomial =
      t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  const float half = 0.5f * far * polynomial * power_of_two(-1.4426950408889634f * z * z);
  const float result = x < 0.0f ? -half : x - half;
  return x != x ? x : result;
}
ROOFTILE_HOST_DEVICE inline double gelu_erf(double x) {
  constexpr double kFar = -1000;
  return 0.5 * (x < kFar ? kFar : x) * erfc(-x * 0.70710678118654752440084436210485);
}

// A function, known when it is compiled. It does not look at arguments that it does not have.
template <ElementwiseOp kOp, class Acc>
struct Function {
  Numbers<Acc> numbers;

  ROOFTILE_HOST_DEVICE Acc operator()(Acc x, [[maybe_unused]] Acc y, [[maybe_unused]] Acc z) const {
    using enum ElementwiseOp;
    // clang-format off
    if constexpr (kOp == cast) return x;
    if constexpr (kOp == neg) return negative(x);
    if constexpr (kOp == ElementwiseOp::abs) return absolute(x);
    if constexpr (kOp == relu) return is_negative(x) ? Acc{0} : x;
    if constexpr (kOp == ElementwiseOp::clamp) return elementwise_math::clamp(x, numbers.low, numbers.high);
    if constexpr (kOp == ElementwiseOp::add) return elementwise_math::add(x, y);
    if constexpr (kOp == sub) return subtract(x, y);
    if constexpr (kOp == mul) return multiply(x, y);
    if constexpr (kOp == ElementwiseOp::div) return divide(x, y);
    if constexpr (kOp == min) return smaller_or_nan(x, y);
    if constexpr (kOp == max) return larger_or_nan(x, y);
    if constexpr (kOp == saxpy) return multiply_add(numbers.alpha, x, y);
    if constexpr (kOp == ElementwiseOp::fma) return multiply_add(x, y, z);
    if constexpr (kOp == where) return x != Acc{0} ? y : z;
    if constexpr (kOp == ElementwiseOp::exp) return std::exp(x);
    if constexpr (kOp == ElementwiseOp::log) return std::log(x);
    if constexpr (kOp == ElementwiseOp::sqrt) return std::sqrt(x);
    if constexpr (kOp == rsqrt) return reciprocal_root(x);
    if constexpr (kOp == ElementwiseOp::sin) return std::sin(x);
    if constexpr (kOp == ElementwiseOp::tanh) return std::tanh(x);
    if constexpr (kOp == ElementwiseOp::sigmoid) return elementwise_math::sigmoid(x);
    if constexpr (kOp == silu) return gated(x, x);
    if constexpr (kOp == ElementwiseOp::gelu_erf) return elementwise_math::gelu_erf(x);
    if constexpr (kOp == ElementwiseOp::gelu_tanh) return elementwise_math::gelu_tanh(x);
    if constexpr (kOp == ElementwiseOp::pow) return std::pow(x, y);
    // clang-format on
  }
};

// The functions of real numbers; of integers none.
template <class Acc, class Body>
ROOFTILE_HOST_DEVICE inline void with_real_function(ElementwiseOp op, const Body& body) {
  switch (op) {
    case ElementwiseOp::exp:
      return body(Long{}, Function<ElementwiseOp::exp, Acc>{});
    case ElementwiseOp::log:
      return body(Long{}, Function<ElementwiseOp::log, Acc>{});
    case ElementwiseOp::sqrt:
      return body(Long{}, Function<ElementwiseOp::sqrt, Acc>{});
    case ElementwiseOp::rsqrt:
      return body(Long{}, Function<ElementwiseOp::rsqrt, Acc>{});
    case ElementwiseOp::sin:
      return body(Long{}, Function<ElementwiseOp::sin, Acc>{});
    case ElementwiseOp::tanh:
      return body(Long{}, Function<ElementwiseOp::tanh, Acc>{});
    case ElementwiseOp::sigmoid:
      return body(Long{}, Function<ElementwiseOp::sigmoid, Acc>{});
    case ElementwiseOp::silu:
      return body(Long{}, Function<ElementwiseOp::silu, Acc>{});
    case ElementwiseOp::gelu_erf:
      return body(Long{}, Function<ElementwiseOp::gelu_erf, Acc>{});
    case ElementwiseOp::gelu_tanh:
      return body(Long{}, Function<ElementwiseOp::gelu_tanh, Acc>{});
    case ElementwiseOp::pow:
      return body(Long{}, Function<ElementwiseOp::pow, Acc>{});
    default:
      return;
  }
}

template <class Acc, class Body>
ROOFTILE_HOST_DEVICE inline void with_function(ElementwiseOp op, const Numbers<Acc>& numbers,
                                               const Body& body) {
  switch (op) {
    case ElementwiseOp::cast:
      return;
    case ElementwiseOp::neg:
      return body(Short{}, Function<ElementwiseOp::neg, Acc>{});
    case ElementwiseOp::abs:
      return body(Short{}, Function<ElementwiseOp::abs, Acc>{});
    case ElementwiseOp::relu:
      return body(Short{}, Function<ElementwiseOp::relu, Acc>{});
    case ElementwiseOp::clamp:
      return body(Short{}, Function<ElementwiseOp::clamp, Acc>{numbers});
    case ElementwiseOp::add:
      return body(Short{}, Function<ElementwiseOp::add, Acc>{});
    case ElementwiseOp::sub:
      return body(Short{}, Function<ElementwiseOp::sub, Acc>{});
    case ElementwiseOp::mul:
      return body(Short{}, Function<ElementwiseOp::mul, Acc>{});
    case ElementwiseOp::div:
      return body(Long{}, Function<ElementwiseOp::div, Acc>{});
    case ElementwiseOp::min:
      return body(Short{}, Function<ElementwiseOp::min, Acc>{});
    case ElementwiseOp::max:
      return body(Short{}, Function<ElementwiseOp::max, Acc>{});
    case ElementwiseOp::saxpy:
      return body(Short{}, Function<ElementwiseOp::saxpy, Acc>{numbers});
    case ElementwiseOp::fma:
      return body(Short{}, Function<ElementwiseOp::fma, Acc>{});
    case ElementwiseOp::where:
      return body(Short{}, Function<ElementwiseOp::where, Acc>{});
    default:
      if constexpr (kIsReal<Acc>) with_real_function<Acc>(op, body);
  }
}

// A float as an integer: truncated, clamped to the range, NaN as 0. Integers modulo 2^bits.
template <class T>
struct ToInteger {
  template <class Acc>
  ROOFTILE_HOST_DEVICE T operator()(Acc x) const {
    if constexpr (std::is_floating_point_v<Acc>) {
      if (x != x) return 0;
      if (x <= static_cast<Acc>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
      if (x >= static_cast<Acc>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    }
    return static_cast<T>(x);
  }
};

// An integer as a double that rounds to any float of fewer bits as the integer itself does: what is cut off leaves a bit.
ROOFTILE_HOST_DEVICE inline double rounded_to_odd(std::uint64_t magnitude) {
  constexpr std::uint64_t kLow = (1u << 11) - 1;
  if (magnitude >> 53 != 0)
    magnitude = (magnitude & ~kLow) | ((magnitude & kLow) != 0 ? std::uint64_t{1} << 11 : 0u);
  return static_cast<double>(magnitude);
}
ROOFTILE_HOST_DEVICE inline double exact(std::uint64_t x) { return rounded_to_odd(x); }
ROOFTILE_HOST_DEVICE inline double exact(std::int64_t x) {
  return x < 0 ? -rounded_to_odd(std::uint64_t{0} - static_cast<std::uint64_t>(x))
               : rounded_to_odd(static_cast<std::uint64_t>(x));
}
ROOFTILE_HOST_DEVICE inline double exact(double x) { return x; }
ROOFTILE_HOST_DEVICE inline float exact(float x) { return x; }

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_math
