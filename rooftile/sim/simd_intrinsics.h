// Two 16-bit or four 8-bit integers in a word: __vadd2, __vadd4 and their kin. In a name, s is signed, u
// unsigned, ss and us saturating; __vcmp gives all ones for true, __vset one.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

namespace detail {

// A word of `body` of each pair of parts, widened to int.
template <class Part, class Body>
unsigned for_parts(unsigned a, unsigned b, Body body) {
  constexpr int kBits = 8 * sizeof(Part);
  unsigned result = 0;
  for (int at = 0; at < 32; at += kBits) {
    const int value = body(int{static_cast<Part>(a >> at)}, int{static_cast<Part>(b >> at)});
    result |= static_cast<unsigned>(static_cast<std::make_unsigned_t<Part>>(value)) << at;
  }
  return result;
}

template <class Part, class Body>
unsigned sum_of_parts(unsigned a, unsigned b, Body body) {
  int sum = 0;
  for (int at = 0; at < 32; at += 8 * static_cast<int>(sizeof(Part))) {
    sum += body(int{static_cast<Part>(a >> at)}, int{static_cast<Part>(b >> at)});
  }
  return static_cast<unsigned>(sum);
}

template <class Part>
int saturated(int value) {
  using Limits = std::numeric_limits<Part>;
  if (value < Limits::min()) return Limits::min();
  return value > Limits::max() ? Limits::max() : value;
}

inline int magnitude(int value) { return value < 0 ? -value : value; }
// To nearest, ties away from zero.
inline int rounded_average(int a, int b) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }

}  // namespace detail

#define ROOFTILE_SIM_PARTS(name, Part, expression)                                                  \
  inline unsigned name(unsigned a_word, unsigned b_word) {                                          \
    return detail::for_parts<Part>(a_word, b_word, [](int a, int b) -> int { return expression; }); \
  }
#define ROOFTILE_SIM_PARTS_OF_ONE(name, Part, expression)                                    \
  inline unsigned name(unsigned a_word) {                                                    \
    return detail::for_parts<Part>(a_word, 0, [](int a, int) -> int { return expression; }); \
  }
#define ROOFTILE_SIM_COMPARE_PARTS(comparison, parts, Part, expression)      \
  ROOFTILE_SIM_PARTS(__vcmp##comparison##parts, Part, (expression) ? -1 : 0) \
  ROOFTILE_SIM_PARTS(__vset##comparison##parts, Part, (expression) ? 1 : 0)

#define ROOFTILE_SIM_PACKED(parts, Signed, Unsigned)                                                  \
  ROOFTILE_SIM_PARTS(__vadd##parts, Signed, a + b)                                                    \
  ROOFTILE_SIM_PARTS(__vaddss##parts, Signed, detail::saturated<Signed>(a + b))                       \
  ROOFTILE_SIM_PARTS(__vaddus##parts, Unsigned, detail::saturated<Unsigned>(a + b))                   \
  ROOFTILE_SIM_PARTS(__vsub##parts, Signed, a - b)                                                    \
  ROOFTILE_SIM_PARTS(__vsubss##parts, Signed, detail::saturated<Signed>(a - b))                       \
  ROOFTILE_SIM_PARTS(__vsubus##parts, Unsigned, detail::saturated<Unsigned>(a - b))                   \
  ROOFTILE_SIM_PARTS_OF_ONE(__vabs##parts, Signed, detail::magnitude(a))                              \
  ROOFTILE_SIM_PARTS_OF_ONE(__vabsss##parts, Signed, detail::saturated<Signed>(detail::magnitude(a))) \
  ROOFTILE_SIM_PARTS_OF_ONE(__vneg##parts, Signed, -a)                                                \
  ROOFTILE_SIM_PARTS_OF_ONE(__vnegss##parts, Signed, detail::saturated<Signed>(-a))                   \
  ROOFTILE_SIM_PARTS(__vabsdiffs##parts, Signed, detail::magnitude(a - b))                            \
  ROOFTILE_SIM_PARTS(__vabsdiffu##parts, Unsigned, detail::magnitude(a - b))                          \
  ROOFTILE_SIM_PARTS(__vavgs##parts, Signed, detail::rounded_average(a, b))                           \
  ROOFTILE_SIM_PARTS(__vavgu##parts, Unsigned, detail::rounded_average(a, b))                         \
  ROOFTILE_SIM_PARTS(__vhaddu##parts, Unsigned, (a + b) >> 1)                                         \
  ROOFTILE_SIM_PARTS(__vmaxs##parts, Signed, a > b ? a : b)                                           \
  ROOFTILE_SIM_PARTS(__vmaxu##parts, Unsigned, a > b ? a : b)                                         \
  ROOFTILE_SIM_PARTS(__vmins##parts, Signed, a < b ? a : b)                                           \
  ROOFTILE_SIM_PARTS(__vminu##parts, Unsigned, a < b ? a : b)                                         \
  ROOFTILE_SIM_COMPARE_PARTS(eq, parts, Unsigned, a == b)                                             \
  ROOFTILE_SIM_COMPARE_PARTS(ne, parts, Unsigned, a != b)                                             \
  ROOFTILE_SIM_COMPARE_PARTS(ges, parts, Signed, a >= b)                                              \
  ROOFTILE_SIM_COMPARE_PARTS(geu, parts, Unsigned, a >= b)                                            \
  ROOFTILE_SIM_COMPARE_PARTS(gts, parts, Signed, a > b)                                               \
  ROOFTILE_SIM_COMPARE_PARTS(gtu, parts, Unsigned, a > b)                                             \
  ROOFTILE_SIM_COMPARE_PARTS(les, parts, Signed, a <= b)                                              \
  ROOFTILE_SIM_COMPARE_PARTS(leu, parts, Unsigned, a <= b)                                            \
  ROOFTILE_SIM_COMPARE_PARTS(lts, parts, Signed, a < b)                                               \
  ROOFTILE_SIM_COMPARE_PARTS(ltu, parts, Unsigned, a < b)                                             \
  inline unsigned __vsads##parts(unsigned a_word, unsigned b_word) {                                  \
    return detail::sum_of_parts<Signed>(a_word, b_word,                                               \
                                        [](int a, int b) { return detail::magnitude(a - b); });       \
  }                                                                                                   \
  inline unsigned __vsadu##parts(unsigned a_word, unsigned b_word) {                                  \
    return detail::sum_of_parts<Unsigned>(a_word, b_word,                                             \
                                          [](int a, int b) { return detail::magnitude(a - b); });     \
  }
ROOFTILE_SIM_PACKED(2, std::int16_t, std::uint16_t)
ROOFTILE_SIM_PACKED(4, std::int8_t, std::uint8_t)
#undef ROOFTILE_SIM_PACKED
#undef ROOFTILE_SIM_COMPARE_PARTS
#undef ROOFTILE_SIM_PARTS_OF_ONE
#undef ROOFTILE_SIM_PARTS

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
