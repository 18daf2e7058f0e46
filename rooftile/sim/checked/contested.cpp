#include "rooftile/sim/checked/contested.h"

#include <utility>

namespace rooftile::simt::checked {

bool ContestedStores::add_place(Contested& contested, std::uintptr_t address,
                                const std::optional<StoredValue>& value) {
  if (contested.differs) return false;
  std::optional<StoredValue>& known = contested.values[address];
  if (known && value && *known != *value) {
    contested.differs = true;
    contested.values.clear();
    return false;
  }
  if (value) known = value;
  return true;
}

void ContestedStores::add_value(std::uintptr_t address, const StoredValue& value) {
  const std::scoped_lock lock(mutex_);
  for (auto& [key, contested] : findings_) {
    if (contested.values.contains(address)) add_place(contested, address, value);
  }
}

void ContestedStores::conclude(RawFindings& races, RawFindings& remarks) {
  const std::scoped_lock lock(mutex_);
  for (auto& [key, contested] : findings_) {
    if (contested.differs) {
      add_finding(races, key, std::move(contested.finding));
    } else {
      FindingKey remark = key;
      std::get<FindingKind>(remark) = FindingKind::same_value;
      add_finding(remarks, remark, std::move(contested.finding));
    }
  }
  findings_.clear();
}

}  // namespace rooftile::simt::checked
