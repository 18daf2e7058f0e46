// Findings before their lines are looked up.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <source_location>
#include <string>
#include <tuple>

#include "rooftile/sim/checked/report.h"

namespace rooftile::simt::checked {

// A place in a kernel: the instruction, or the line that an intrinsic was told.
struct Place {
  const void* pc = nullptr;
  const char* file = nullptr;
  unsigned line = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
[[nodiscard]] inline Place place_of(const void* pc) { return {pc, nullptr, 0}; }
[[nodiscard]] inline Place place_of(std::source_location where) {
  return {nullptr, where.file_name(), where.line()};
}
// Of a mark, whose pointer is the instruction's or, `placed`, a kept Place.
[[nodiscard]] inline Place place_of(const void* pc, bool placed) {
  return placed ? *static_cast<const Place*>(pc) : place_of(pc);
}

struct RawFinding {
  const void* kernel = nullptr;
  std::string what;
  std::uint64_t count = 0;
};
using FindingKey = std::tuple<FindingKind, Place, Place>;
using RawFindings = std::map<FindingKey, RawFinding>;
void add_finding(RawFindings& findings, const FindingKey& key, RawFinding finding);

// The bytes of one access, from its first on.
using StoredValue = std::array<std::byte, 16>;
[[nodiscard]] StoredValue stored_value(std::uintptr_t address, std::size_t bytes);

}  // namespace rooftile::simt::checked
