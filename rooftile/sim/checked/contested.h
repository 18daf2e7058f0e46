// Plain stores of several blocks to one place of global memory, which nothing orders: a race, unless all of them store
// the same value. Blocks run on several OS threads, so that what was stored is told by who stored it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "rooftile/sim/checked/raw_findings.h"

namespace rooftile::simt::checked {

// A thread's store between its judgement and its end; read by other OS threads.
struct StoreInFlight {
  std::atomic<std::uintptr_t> address{0};  // 0: none
  std::atomic<bool> contested{false};      // its value is wanted
  std::size_t bytes = 0;                   // for its own OS thread alone
};

class ContestedStores {
 public:
  // The finding at this place. Returns whether its value is still wanted. `value`: of the earlier store; none where
  // that one is in flight.
  bool add(const FindingKey& key, std::uintptr_t address, const RawFinding& finding,
           const std::optional<StoredValue>& value);
  void add_value(std::uintptr_t address, const StoredValue& value);
  // At the end of a launch: what it was.
  void conclude(RawFindings& races, RawFindings& remarks);

 private:
  struct Entry {
    RawFinding finding;
    std::set<StoredValue> values;
  };
  std::mutex mutex_;
  std::map<std::pair<std::uintptr_t, FindingKey>, Entry> entries_;
};

}  // namespace rooftile::simt::checked
