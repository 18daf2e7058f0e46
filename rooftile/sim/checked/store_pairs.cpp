#include "rooftile/sim/checked/store_pairs.h"

#include <algorithm>
#include <cstring>

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

void StorePairs::add(std::uintptr_t address, std::size_t bytes, std::optional<StoreTicket> first,
                     StoreTicket second, const FindingKey& key, RawFinding finding) {
  Pair pair{address, bytes, first.value_or(StoreTicket{}), second, {}, {}, key, std::move(finding)};
  if (!first) pair.first_value = stored_value(address, bytes);
  pairs_.push_back(std::move(pair));
}

}  // namespace rooftile::simt::checked
