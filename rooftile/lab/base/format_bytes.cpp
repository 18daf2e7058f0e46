#include "rooftile/lab/base/format_bytes.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace rooftile::lab {

std::string format_bytes(double bytes) {
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024.0 && unit + 1 < kUnits.size()) {
    bytes /= 1024.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

}  // namespace rooftile::lab
