#include "rooftile/sim/rounding.h"

#include <cfenv>

namespace rooftile::simt::detail {
namespace {

int mode_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_zero:
      return FE_TOWARDZERO;
    case Rounding::up:
      return FE_UPWARD;
    case Rounding::down:
      return FE_DOWNWARD;
  }
  return FE_TONEAREST;
}

// g++ knows nothing of rounding modes and would compute in front of the call or behind it: operands and
// result are volatile in every `body`, which keeps their order.
template <class Body>
auto with_rounding(Rounding rounding, Body body) {
  const int before = std::fegetround();
  std::fesetround(mode_of(rounding));
  volatile auto result = body();
  std::fesetround(before);
  return static_cast<decltype(body())>(result);
}

template <class T>
T apply(RoundedOp op, Rounding rounding, T left, T right) {
  volatile T a = left;
  volatile T b = right;
  return with_rounding(rounding, [&]() -> T {
    switch (op) {
      case RoundedOp::add:
        return a + b;
      case RoundedOp::subtract:
        return a - b;
      case RoundedOp::multiply:
        return a * b;
      case RoundedOp::divide:
        return a / b;
      case RoundedOp::square_root:
        return std::sqrt(T{a});
    }
    return a;
  });
}

template <class T>
T apply_multiply_add(Rounding rounding, T left, T right, T added) {
  volatile T a = left;
  volatile T b = right;
  volatile T c = added;
  return with_rounding(rounding, [&]() -> T { return std::fma(T{a}, T{b}, T{c}); });
}

template <class To, class From>
To convert(Rounding rounding, From from) {
  volatile From a = from;
  return with_rounding(rounding, [&] { return static_cast<To>(a); });
}

}  // namespace

float rounded(RoundedOp op, Rounding rounding, float a, float b) { return apply(op, rounding, a, b); }
double rounded(RoundedOp op, Rounding rounding, double a, double b) { return apply(op, rounding, a, b); }
float rounded_multiply_add(Rounding rounding, float a, float b, float c) {
  return apply_multiply_add(rounding, a, b, c);
}
double rounded_multiply_add(Rounding rounding, double a, double b, double c) {
  return apply_multiply_add(rounding, a, b, c);
}
float rounded_to_float(Rounding rounding, double a) { return convert<float>(rounding, a); }
float rounded_to_float(Rounding rounding, std::int64_t a) { return convert<float>(rounding, a); }
float rounded_to_float(Rounding rounding, std::uint64_t a) { return convert<float>(rounding, a); }
double rounded_to_double(Rounding rounding, std::int64_t a) { return convert<double>(rounding, a); }
double rounded_to_double(Rounding rounding, std::uint64_t a) { return convert<double>(rounding, a); }

}  // namespace rooftile::simt::detail
