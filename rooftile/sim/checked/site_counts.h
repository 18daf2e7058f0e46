// Requests counted by the address of the instruction that made them.
#pragma once

#include <cstdint>
#include <vector>

#include "rooftile/sim/checked/report.h"
#include "rooftile/sim/checked/requests.h"

namespace rooftile::simt::checked {

struct Site {
  const void* pc = nullptr;  // null: a free slot
  AccessKind kind = AccessKind::load;
  MemorySpace space = MemorySpace::global;
  AccessCounts counts;
};

class SiteCounts {
 public:
  SiteCounts() : slots_(kFirstSlots) {}
  void add(const void* pc, AccessKind kind, MemorySpace space, const WarpRequest& request);
  // Free slots are among them.
  [[nodiscard]] const std::vector<Site>& slots() const { return slots_; }

 private:
  static constexpr std::size_t kFirstSlots = 256;  // a power of two
  Site& slot_for(const void* pc, AccessKind kind, MemorySpace space);
  void grow();
  std::vector<Site> slots_;
  std::size_t used_ = 0;
};

}  // namespace rooftile::simt::checked
