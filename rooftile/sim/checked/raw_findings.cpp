#include "rooftile/sim/checked/raw_findings.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rooftile::simt::checked {

void add_finding(RawFindings& findings, const FindingKey& key, RawFinding finding) {
  const auto [place, is_new] = findings.try_emplace(key, std::move(finding));
  if (!is_new) place->second.count += finding.count;
}

StoredValue stored_value(std::uintptr_t address, std::size_t bytes) {
  StoredValue value{};
  std::memcpy(value.data(), reinterpret_cast<const void*>(address), std::min(bytes, value.size()));
  return value;
}

}  // namespace rooftile::simt::checked
