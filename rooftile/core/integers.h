// Arithmetic of sizes and counts, for headers that kernels include: <algorithm> has the same at a tenth of their compile time.
#pragma once

#include <cstdint>

namespace rooftile {

// a / b, rounded up; a >= 0, b > 0, and a + b does not overflow.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return b < a ? b : a; }
constexpr std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
// least, where `least` is above `most`.
constexpr std::int64_t clamped(std::int64_t x, std::int64_t least, std::int64_t most) {
  return larger(least, smaller(x, most));
}

}  // namespace rooftile
