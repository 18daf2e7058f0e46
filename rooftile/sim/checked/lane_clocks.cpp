#include "rooftile/sim/checked/lane_clocks.h"

#include <algorithm>
#include <bit>

namespace rooftile::simt::checked {

void LaneClocks::start_block(unsigned threads) {
  floor_ = ++now_;
  threads_ = threads;
  for (WarpClocks& warp : warps_) warp.partial = false;
  released_.clear();
  known_.clear();
  heard_.clear();
  fenced_.clear();
  has_known_ = false;
}

Stamp LaneClocks::stamp(unsigned thread) const {
  const WarpClocks& warp = warps_[thread / kWarpLanes];
  const Stamp joined = std::max(floor_, warp.floor);
  return warp.partial ? std::max(joined, warp.own[thread % kWarpLanes]) : joined;
}

bool LaneClocks::is_ordered(unsigned earlier, Stamp stamp, unsigned thread) const {
  if (stamp < floor_ || earlier == thread) return true;
  const unsigned warp_index = thread / kWarpLanes;
  if (earlier / kWarpLanes == warp_index) {
    const WarpClocks& warp = warps_[warp_index];
    if (stamp < warp.floor) return true;
    if (warp.partial && stamp < warp.seen[thread % kWarpLanes][earlier % kWarpLanes]) return true;
  }
  return has_known_ && !known_[thread].empty() && stamp < known_[thread][earlier];
}

void LaneClocks::pass_barrier() {
  floor_ = ++now_;
  for (WarpClocks& warp : warps_) warp.partial = false;
  if (!has_known_) return;
  for (Clock& clock : known_) clock.clear();
}

void LaneClocks::use_partial(WarpClocks& warp) {
  if (warp.partial) return;
  warp.partial = true;
  warp.own.fill(0);
  for (auto& lane : warp.seen) lane.fill(0);
}

void LaneClocks::pass_collective(unsigned warp_index, std::uint32_t lanes, bool whole) {
  WarpClocks& warp = warps_[warp_index];
  const Stamp next = ++now_;
  if (whole) {
    warp.floor = next;
  } else {
    use_partial(warp);
    std::array<Stamp, kWarpLanes> merged{};
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto& seen = warp.seen[static_cast<unsigned>(std::countr_zero(left))];
      for (unsigned other = 0; other < kWarpLanes; ++other)
        merged[other] = std::max(merged[other], seen[other]);
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      merged[static_cast<unsigned>(std::countr_zero(left))] = next;
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      warp.seen[lane] = merged;
      warp.own[lane] = next;
    }
  }
  if (!has_known_) return;
  Clock all;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    join(all, known_[warp_index * kWarpLanes + static_cast<unsigned>(std::countr_zero(left))]);
  }
  if (all.empty()) return;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    known_[warp_index * kWarpLanes + static_cast<unsigned>(std::countr_zero(left))] = all;
  }
}

void LaneClocks::join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

// What the thread knows of every thread. Its own later accesses are stamped above it.
LaneClocks::Clock LaneClocks::clock_of(unsigned thread) {
  if (!has_known_) {
    has_known_ = true;
    for (std::vector<Clock>* clocks : {&known_, &heard_, &fenced_}) clocks->assign(threads_, {});
  }
  Clock clock = known_[thread];
  clock.resize(threads_);
  WarpClocks& warp = warps_[thread / kWarpLanes];
  use_partial(warp);
  const unsigned first = thread / kWarpLanes * kWarpLanes;
  for (unsigned lane = 0; lane < kWarpLanes && first + lane < threads_; ++lane) {
    clock[first + lane] = std::max({clock[first + lane], warp.floor, warp.seen[thread % kWarpLanes][lane]});
  }
  const Stamp next = ++now_;
  clock[thread] = next;
  warp.own[thread % kWarpLanes] = next;
  return clock;
}

BlockKnowledge LaneClocks::publish(unsigned thread) {
  WarpClocks& warp = warps_[thread / kWarpLanes];
  use_partial(warp);
  warp.own[thread % kWarpLanes] = ++now_;
  return {floor_, warp.floor, now_, static_cast<std::uint16_t>(thread)};
}

void LaneClocks::release(unsigned thread, std::uintptr_t address, bool relaxed) {
  if (!relaxed) {
    join(released_[address], clock_of(thread));
  } else if (has_known_ && !fenced_[thread].empty()) {
    join(released_[address], fenced_[thread]);
  }
}

void LaneClocks::acquire(unsigned thread, std::uintptr_t address, bool relaxed) {
  if (!has_known_) return;  // nobody has released
  const auto clock = released_.find(address);
  if (clock != released_.end()) join(relaxed ? heard_[thread] : known_[thread], clock->second);
}

void LaneClocks::fence(unsigned thread) {
  Clock clock = clock_of(thread);
  join(known_[thread], heard_[thread]);
  join(clock, heard_[thread]);
  fenced_[thread] = std::move(clock);
}

}  // namespace rooftile::simt::checked
