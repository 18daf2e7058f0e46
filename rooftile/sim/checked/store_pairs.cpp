#include "rooftile/sim/checked/store_pairs.h"

namespace rooftile::simt::checked {

void StorePairs::add(std::uintptr_t address, std::size_t bytes, std::optional<StoreTicket> first,
                     StoreTicket second, const FindingKey& key, RawFinding finding) {
  Pair pair{address, bytes, first.value_or(StoreTicket{}), second, {}, {}, key, std::move(finding)};
  if (!first) pair.first_value = stored_value(address, bytes);
  pairs_.push_back(std::move(pair));
}

}  // namespace rooftile::simt::checked
