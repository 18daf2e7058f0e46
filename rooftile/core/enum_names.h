// The names of an enum's values, in their order, as the command line and JSON write them.
//
//   template <>
//   inline constexpr std::array<std::string_view, 2> kEnumNames<ReduceOp> = {"sum", "mean"};
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace rooftile {

// Specialised beside the enum.
template <class E>
inline constexpr std::array<std::string_view, 0> kEnumNames{};

// Empty where the value is none of the enum's.
template <class E>
[[nodiscard]] constexpr std::string_view enum_name(E value) {
  const auto at = static_cast<std::size_t>(value);
  return at < kEnumNames<E>.size() ? kEnumNames<E>[at] : std::string_view();
}
// Precondition: the name of a value.
template <class E>
[[nodiscard]] constexpr E enum_value(std::string_view name) {
  std::size_t at = 0;
  while (at + 1 < kEnumNames<E>.size() && kEnumNames<E>[at] != name) ++at;
  return static_cast<E>(at);
}

}  // namespace rooftile
