// Two plain stores to one place, which nothing orders: a race, unless both store the same value. Their values are
// known only behind the stores, so that pairs wait until both are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "rooftile/sim/checked/raw_findings.h"

namespace rooftile::simt::checked {

// A store of a thread of the block that has yet to be done: the thread's place in the block, and its count of what
// it was held at.
struct StoreTicket {
  unsigned thread = 0;
  std::uint32_t serial = 0;
};

class StorePairs {
 public:
  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  // `first`: none where it is done.
  void add(std::uintptr_t address, std::size_t bytes, std::optional<StoreTicket> first, StoreTicket second,
           const FindingKey& key, RawFinding finding);
  // Looks at what is done by now: `is_done(ticket)`. To be called before any other store can follow one that is.
  template <class IsDone>
  void settle(RawFindings& races, RawFindings& remarks, const IsDone& is_done);
  void drop() { pairs_.clear(); }

 private:
  struct Pair {
    std::uintptr_t address;
    std::size_t bytes;
    StoreTicket first, second;
    std::optional<StoredValue> first_value, second_value;
    FindingKey key;
    RawFinding finding;
  };
  std::vector<Pair> pairs_;
};

template <class IsDone>
void StorePairs::settle(RawFindings& races, RawFindings& remarks, const IsDone& is_done) {
  std::size_t left = 0;
  for (Pair& pair : pairs_) {
    if (!pair.first_value && is_done(pair.first)) pair.first_value = stored_value(pair.address, pair.bytes);
    if (!pair.second_value && is_done(pair.second)) {
      pair.second_value = stored_value(pair.address, pair.bytes);
    }
    if (pair.first_value && pair.second_value) {
      if (*pair.first_value == *pair.second_value) {
        std::get<FindingKind>(pair.key) = FindingKind::same_value;
        add_finding(remarks, pair.key, std::move(pair.finding));
      } else {
        add_finding(races, pair.key, std::move(pair.finding));
      }
    } else {
      if (&pairs_[left] != &pair) pairs_[left] = std::move(pair);
      ++left;
    }
  }
  pairs_.resize(left);
}

}  // namespace rooftile::simt::checked
