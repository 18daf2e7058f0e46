// Plain stores of several blocks to one place of global memory, which nothing orders: a race, unless all of them store
// the same value. Blocks run on several OS threads, so that what was stored is told by who stored it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

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
  // Takes note of the finding at this place. `value`: of the earlier store; none where that one is in flight. Returns
  // whether the value of the later one is wanted.
  template <class MakeFinding>
  bool add(const FindingKey& key, std::uintptr_t address, const std::optional<StoredValue>& value,
           MakeFinding&& make_finding) {
    const std::scoped_lock lock(mutex_);
    auto known = findings_.find(key);
    if (known == findings_.end()) {
      known = findings_.emplace(key, Contested{make_finding(), false, {}}).first;
    } else {
      ++known->second.finding.count;
    }
    return add_place(known->second, address, value);
  }
  void add_value(std::uintptr_t address, const StoredValue& value);
  // At the end of a launch: what each was.
  void conclude(RawFindings& races, RawFindings& remarks);

 private:
  struct Contested {
    RawFinding finding;
    bool differs = false;
    std::unordered_map<std::uintptr_t, std::optional<StoredValue>> values;  // by place
  };
  static bool add_place(Contested& contested, std::uintptr_t address,
                        const std::optional<StoredValue>& value);

  std::mutex mutex_;
  std::map<FindingKey, Contested> findings_;
};

}  // namespace rooftile::simt::checked
