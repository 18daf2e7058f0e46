#include "rooftile/sim/checked/site_counts.h"

#include <bit>
#include <utility>

namespace rooftile::simt::checked {

Site& SiteCounts::slot_for(const void* pc, AccessKind kind, MemorySpace space) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = reinterpret_cast<std::uintptr_t>(pc) * 0x9e3779b97f4a7c15u >> 40 & mask;
  while (slots_[at].pc != nullptr &&
         (slots_[at].pc != pc || slots_[at].kind != kind || slots_[at].space != space)) {
    at = (at + 1) & mask;
  }
  return slots_[at];
}

void SiteCounts::grow() {
  std::vector<Site> old(2 * slots_.size());
  std::swap(old, slots_);
  for (Site& site : old) {
    if (site.pc != nullptr) slot_for(site.pc, site.kind, site.space) = site;
  }
}

void SiteCounts::add(const void* pc, AccessKind kind, MemorySpace space, const WarpRequest& request) {
  Site* site = &slot_for(pc, kind, space);
  if (site->pc == nullptr) {
    if (2 * ++used_ > slots_.size()) {
      grow();
      site = &slot_for(pc, kind, space);
    }
    site->pc = pc;
    site->kind = kind;
    site->space = space;
  }
  AccessCounts one;
  one.requests = 1;
  one.lanes = static_cast<std::uint64_t>(std::popcount(request.lanes));
  one.lane_bytes = request.bytes;
  one.lane_stride = lane_stride(request);
  // Atomics of one instruction to one address are served one after the other.
  if (kind == AccessKind::atomic) {
    one.worst_multiplicity = same_address_lanes(request);
    one.multiplicity = one.worst_multiplicity;
  }
  if (space == MemorySpace::shared) {
    const SharedCost cost = shared_cost(request);
    one.wavefronts = cost.wavefronts;
    one.ideal_wavefronts = cost.ideal_wavefronts;
    one.worst_conflict = (cost.wavefronts + cost.ideal_wavefronts - 1) / cost.ideal_wavefronts;
  } else if (space == MemorySpace::constant) {
    one.wavefronts = constant_words(request);
    one.ideal_wavefronts = (request.bytes + 3) / 4;  // all lanes at one address
    one.worst_conflict = (one.wavefronts + one.ideal_wavefronts - 1) / one.ideal_wavefronts;
  } else {
    const GlobalCost cost = global_cost(request);
    one.sectors = cost.sectors;
    one.ideal_sectors = cost.ideal_sectors;
    one.lines = cost.lines;
  }
  site->counts.add(one);
}

}  // namespace rooftile::simt::checked
