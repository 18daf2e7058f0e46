#include "rooftile/sim/checked/lane_clocks.h"

#include <algorithm>
#include <bit>

namespace rooftile::simt::checked {

void LaneClocks::start(unsigned blocks, unsigned block_threads, Stamp last) {
  start_ = now_ = std::max(now_, last) + 1;
  count_ = blocks;
  stride_ = (block_threads + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
  threads_ = blocks * stride_;
  for (unsigned rank = 0; rank < blocks; ++rank) {
    blocks_[rank].number = kNotStarted;
    blocks_[rank].floor = start_;
    blocks_[rank].known.clear();
  }
  if (warps_.size() < threads_ / kWarpLanes) warps_.resize(threads_ / kWarpLanes);
  for (WarpClocks& warp : warps_) warp.partial = false;
  last_phase_ = 0;
  for (Phase& phase : phases_) phase = {};
  passed_.assign(threads_, 0);
  has_known_ = false;
  released_.clear();
}

bool LaneClocks::has_block(std::uint32_t block) const {
  for (unsigned rank = 0; rank < count_; ++rank) {
    if (blocks_[rank].number == block) return true;
  }
  return false;
}

bool LaneClocks::is_known(unsigned earlier, Stamp stamp, unsigned thread) const {
  const OfBlock& block = blocks_[rank_of(thread)];
  if (!is_agent(earlier) && rank_of(earlier) == rank_of(thread)) {
    if (stamp < block.floor) return true;
    if (earlier / kWarpLanes == thread / kWarpLanes) {
      const WarpClocks& warp = warps_[thread / kWarpLanes];
      if (stamp < warp.floor) return true;
      if (warp.partial && stamp < warp.seen[thread % kWarpLanes][earlier % kWarpLanes]) return true;
    }
  }
  const std::size_t at = slot(earlier);
  if (last_phase_ != 0) {
    const Clock& gathered = phase_knowledge(thread);
    if (at < gathered.size() && stamp < gathered[at]) return true;
  }
  if (!has_known_) return false;
  if (at < block.known.size() && stamp < block.known[at]) return true;
  return at < known_[thread].size() && stamp < known_[thread][at];
}

void LaneClocks::use_known() {
  if (has_known_) return;
  has_known_ = true;
  for (std::vector<Clock>* clocks : {&known_, &heard_, &fenced_}) {
    clocks->resize(std::max<std::size_t>(clocks->size(), threads_));
    for (Clock& clock : *clocks) clock.clear();
  }
}

void LaneClocks::pass_barrier(unsigned rank) {
  OfBlock& block = blocks_[rank];
  block.floor = ++now_;
  const unsigned first = first_thread(rank);
  for (unsigned warp = first / kWarpLanes; warp < (first + stride_) / kWarpLanes; ++warp) {
    warps_[warp].partial = false;
  }
  if (last_phase_ != 0) {
    const auto threads = passed_.begin() + first;
    std::fill_n(threads, stride_, *std::max_element(threads, threads + stride_));
  }
  if (!has_known_) return;
  for (unsigned thread = first; thread < first + stride_; ++thread) {
    join(block.known, known_[thread]);
    known_[thread].clear();
  }
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
  if (last_phase_ != 0) {
    std::uint32_t passed = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
      passed =
          std::max(passed, passed_[warp_index * kWarpLanes + static_cast<unsigned>(std::countr_zero(left))]);
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
      passed_[warp_index * kWarpLanes + static_cast<unsigned>(std::countr_zero(left))] = passed;
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

void LaneClocks::set(Clock& clock, unsigned id, Stamp stamp) const {
  const std::size_t at = slot(id);
  if (clock.size() <= at) clock.resize(at + 1);
  clock[at] = std::max(clock[at], stamp);
}

LaneClocks::Phase& LaneClocks::phase_of(std::uint32_t number) {
  Phase& phase = phases_[number % phases_.size()];
  if (phase.number != number) {
    // Who passes it has passed the one before.
    phase = {number, phases_[(number - 1) % phases_.size()].gathered, {}};
    last_phase_ = number;
  }
  return phase;
}

void LaneClocks::arrive_at_phase(unsigned thread, std::uint32_t number) {
  Phase& phase = phase_of(number);
  Clock& gathered = phase.gathered;
  if (gathered.size() < threads_) gathered.resize(threads_);
  const unsigned rank = rank_of(thread);
  const OfBlock& block = blocks_[rank];
  if (phase.floors[rank] != block.floor) {  // with which `known` changes
    phase.floors[rank] = block.floor;
    join(gathered, block.known);
    for (unsigned other = first_thread(rank); other < first_thread(rank) + stride_; ++other)
      gathered[other] = std::max(gathered[other], block.floor);
  }
  add_warp(gathered, thread);
  if (has_known_) join(gathered, known_[thread]);
  gathered[thread] = mark_time(thread);
}

void LaneClocks::pass_phase(unsigned thread, std::uint32_t number) {
  passed_[thread] = phase_of(number).number;
}

// What the thread knows of the lanes of its warp.
void LaneClocks::add_warp(Clock& clock, unsigned thread) {
  WarpClocks& warp = warps_[thread / kWarpLanes];
  use_partial(warp);
  const unsigned first = thread / kWarpLanes * kWarpLanes;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    clock[first + lane] = std::max({clock[first + lane], warp.floor, warp.seen[thread % kWarpLanes][lane]});
  }
}

LaneClocks::Clock LaneClocks::knowledge(unsigned thread) {
  use_known();
  Clock clock = known_[thread];
  if (clock.size() < threads_) clock.resize(threads_);
  if (last_phase_ != 0) join(clock, phase_knowledge(thread));
  const unsigned rank = rank_of(thread);
  if (count_ > 1) {  // threads of the own block know its floor and what lies behind it anyway
    join(clock, blocks_[rank].known);
    for (unsigned other = first_thread(rank); other < first_thread(rank) + stride_; ++other) {
      clock[other] = std::max(clock[other], blocks_[rank].floor);
    }
  }
  add_warp(clock, thread);
  clock[thread] = mark_time(thread);
  return clock;
}

Stamp LaneClocks::mark_time(unsigned thread) {
  WarpClocks& warp = warps_[thread / kWarpLanes];
  use_partial(warp);
  return warp.own[thread % kWarpLanes] = ++now_;
}

void LaneClocks::learn(unsigned thread, const Clock& clock) {
  if (clock.empty()) return;
  use_known();
  join(known_[thread], clock);
}

void LaneClocks::learn(unsigned thread, unsigned agent, Stamp stamp) {
  use_known();
  set(known_[thread], agent, stamp);
}

Published LaneClocks::publish(unsigned thread) {
  const OfBlock& block = blocks_[rank_of(thread)];
  const Stamp own = mark_time(thread);
  Published all;
  all.push_back({block.number,
                 {block.floor, warps_[thread / kWarpLanes].floor, own, static_cast<std::uint16_t>(thread)}});
  if (!has_known_ && last_phase_ == 0) return all;
  Clock known = block.known;
  if (last_phase_ != 0) join(known, phase_knowledge(thread));
  if (has_known_) join(known, known_[thread]);
  for (std::size_t at = 0; at < known.size(); ++at) {
    const bool agent = at >= threads_;
    if (known[at] == 0 || at == thread) continue;
    if (!agent && rank_of(static_cast<unsigned>(at)) == rank_of(thread) && known[at] <= block.floor) continue;
    const auto id = static_cast<unsigned>(agent ? kFirstAgent + (at - threads_) : at);
    const BlockKnowledge entry{0, 0, known[at], static_cast<std::uint16_t>(id)};
    if (!agent) {
      all.push_back({blocks_[rank_of(id)].number, entry});
      continue;
    }
    // Copies of several blocks may be waited for at one mbarrier.
    for (unsigned rank = 0; rank < count_; ++rank) all.push_back({blocks_[rank].number, entry});
  }
  return all;
}

void LaneClocks::release(unsigned thread, std::uintptr_t address, bool relaxed) {
  if (!relaxed) {
    join(released_[address], knowledge(thread));
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
  Clock clock = knowledge(thread);
  join(known_[thread], heard_[thread]);
  join(clock, heard_[thread]);
  fenced_[thread] = std::move(clock);
}

}  // namespace rooftile::simt::checked
