// Which rows pass through L2 in front of what is written (sm80/passing_rows.h): for plans, on the host.
#pragma once

#include <cstdint>

#include "rooftile/core/integers.h"

namespace rooftile {

// As many rows as the last ones are that take the marks back: twice as many have room in L2, and more are not on their way at once. 0: no row
// is marked, since L2 has room for a good part of them all.
inline std::int64_t passing_window(std::int64_t rows, std::int64_t row_bytes) {
  constexpr std::int64_t kLeastBytes = std::int64_t{64} << 20;
  constexpr std::int64_t kWindowBytes = std::int64_t{8} << 20;
  return rows * row_bytes < kLeastBytes ? 0 : ceil_div(kWindowBytes, row_bytes);
}

}  // namespace rooftile
