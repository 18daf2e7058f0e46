#include "rooftile/sim/checked/contested.h"

namespace rooftile::simt::checked {

bool ContestedStores::add(const FindingKey& key, std::uintptr_t address, const RawFinding& finding,
                          const std::optional<StoredValue>& value) {
  const std::scoped_lock lock(mutex_);
  const auto [place, is_new] = entries_.try_emplace({address, key}, Entry{finding, {}});
  Entry& entry = place->second;
  if (!is_new) ++entry.finding.count;
  if (value) entry.values.insert(*value);
  return entry.values.size() < 2;
}

void ContestedStores::add_value(std::uintptr_t address, const StoredValue& value) {
  const std::scoped_lock lock(mutex_);
  for (auto entry = entries_.lower_bound({address, FindingKey{}});
       entry != entries_.end() && entry->first.first == address; ++entry) {
    entry->second.values.insert(value);
  }
}

void ContestedStores::conclude(RawFindings& races, RawFindings& remarks) {
  const std::scoped_lock lock(mutex_);
  for (auto& [place, entry] : entries_) {
    if (entry.values.size() > 1) {
      add_finding(races, place.second, std::move(entry.finding));
    } else {
      FindingKey key = place.second;
      std::get<FindingKind>(key) = FindingKind::same_value;
      add_finding(remarks, key, std::move(entry.finding));
    }
  }
  entries_.clear();
}

}  // namespace rooftile::simt::checked
