// Arithmetic and conversions that name their rounding: _rn to nearest even, _rz towards zero, _ru up, _rd
// down. Never contracted. Conversions to integers are in intrinsics.h.
#pragma once

#include <cmath>
#include <cstdint>

namespace rooftile::simt {

namespace detail {

enum class Rounding : std::uint8_t { toward_zero, up, down };
enum class RoundedOp : std::uint8_t { add, subtract, multiply, divide, square_root };

// The exact result, rounded once. `b` is passed over where the operation has one operand.
[[nodiscard]] float rounded(RoundedOp op, Rounding rounding, float a, float b);
[[nodiscard]] double rounded(RoundedOp op, Rounding rounding, double a, double b);
[[nodiscard]] float rounded_multiply_add(Rounding rounding, float a, float b, float c);
[[nodiscard]] double rounded_multiply_add(Rounding rounding, double a, double b, double c);
[[nodiscard]] float rounded_to_float(Rounding rounding, double a);
[[nodiscard]] float rounded_to_float(Rounding rounding, std::int64_t a);
[[nodiscard]] float rounded_to_float(Rounding rounding, std::uint64_t a);
[[nodiscard]] double rounded_to_double(Rounding rounding, std::int64_t a);
[[nodiscard]] double rounded_to_double(Rounding rounding, std::uint64_t a);

}  // namespace detail

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's

// `prefix` is f or d, `fused` the name of the fused multiply-add.
#define ROOFTILE_SIM_ROUNDED(T, prefix, fused, mode, rounding)                                  \
  inline T __##prefix##add_##mode(T a, T b) {                                                   \
    return detail::rounded(detail::RoundedOp::add, detail::Rounding::rounding, a, b);           \
  }                                                                                             \
  inline T __##prefix##sub_##mode(T a, T b) {                                                   \
    return detail::rounded(detail::RoundedOp::subtract, detail::Rounding::rounding, a, b);      \
  }                                                                                             \
  inline T __##prefix##mul_##mode(T a, T b) {                                                   \
    return detail::rounded(detail::RoundedOp::multiply, detail::Rounding::rounding, a, b);      \
  }                                                                                             \
  inline T __##prefix##div_##mode(T a, T b) {                                                   \
    return detail::rounded(detail::RoundedOp::divide, detail::Rounding::rounding, a, b);        \
  }                                                                                             \
  inline T __##prefix##rcp_##mode(T a) {                                                        \
    return detail::rounded(detail::RoundedOp::divide, detail::Rounding::rounding, T{1}, a);     \
  }                                                                                             \
  inline T __##prefix##sqrt_##mode(T a) {                                                       \
    return detail::rounded(detail::RoundedOp::square_root, detail::Rounding::rounding, a, T{}); \
  }                                                                                             \
  inline T __##fused##_##mode(T a, T b, T c) {                                                  \
    return detail::rounded_multiply_add(detail::Rounding::rounding, a, b, c);                   \
  }
#define ROOFTILE_SIM_NEAREST(T, prefix, fused)               \
  inline T __##prefix##add_rn(T a, T b) { return a + b; }    \
  inline T __##prefix##sub_rn(T a, T b) { return a - b; }    \
  inline T __##prefix##mul_rn(T a, T b) { return a * b; }    \
  inline T __##prefix##div_rn(T a, T b) { return a / b; }    \
  inline T __##prefix##rcp_rn(T a) { return T{1} / a; }      \
  inline T __##prefix##sqrt_rn(T a) { return std::sqrt(a); } \
  inline T __##fused##_rn(T a, T b, T c) { return std::fma(a, b, c); }
ROOFTILE_SIM_NEAREST(float, f, fmaf)
ROOFTILE_SIM_ROUNDED(float, f, fmaf, rz, toward_zero)
ROOFTILE_SIM_ROUNDED(float, f, fmaf, ru, up)
ROOFTILE_SIM_ROUNDED(float, f, fmaf, rd, down)
ROOFTILE_SIM_NEAREST(double, d, fma)
ROOFTILE_SIM_ROUNDED(double, d, fma, rz, toward_zero)
ROOFTILE_SIM_ROUNDED(double, d, fma, ru, up)
ROOFTILE_SIM_ROUNDED(double, d, fma, rd, down)
#undef ROOFTILE_SIM_NEAREST
#undef ROOFTILE_SIM_ROUNDED

#define ROOFTILE_SIM_CONVERT(From, from, Wide, To, to)                                                      \
  inline To __##from##2##to##_rn(From a) { return static_cast<To>(a); }                                     \
  inline To __##from##2##to##_rz(From a) {                                                                  \
    return detail::rounded_to_##to(detail::Rounding::toward_zero, Wide{a});                                 \
  }                                                                                                         \
  inline To __##from##2##to##_ru(From a) { return detail::rounded_to_##to(detail::Rounding::up, Wide{a}); } \
  inline To __##from##2##to##_rd(From a) { return detail::rounded_to_##to(detail::Rounding::down, Wide{a}); }
ROOFTILE_SIM_CONVERT(double, double, double, float, float)
ROOFTILE_SIM_CONVERT(int, int, std::int64_t, float, float)
ROOFTILE_SIM_CONVERT(unsigned, uint, std::uint64_t, float, float)
ROOFTILE_SIM_CONVERT(long long, ll, std::int64_t, float, float)
ROOFTILE_SIM_CONVERT(unsigned long long, ull, std::uint64_t, float, float)
ROOFTILE_SIM_CONVERT(long long, ll, std::int64_t, double, double)
ROOFTILE_SIM_CONVERT(unsigned long long, ull, std::uint64_t, double, double)
#undef ROOFTILE_SIM_CONVERT
inline double __int2double_rn(int a) { return a; }
inline double __uint2double_rn(unsigned a) { return a; }

// NOLINTEND(bugprone-reserved-identifier)
}  // namespace rooftile::simt
