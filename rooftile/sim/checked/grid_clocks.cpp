#include "rooftile/sim/checked/grid_clocks.h"

#include <algorithm>

namespace rooftile::simt::checked {
namespace {

constexpr unsigned kWarpLanes = detail::kWarpLanes;

bool is_covered(const BlockKnowledge& knowledge, unsigned thread, Stamp stamp) {
  if (is_agent(thread)) return thread == knowledge.thread && stamp < knowledge.thread_stamp;
  if (stamp < knowledge.block_floor) return true;
  if (thread / kWarpLanes == knowledge.thread / kWarpLanes && stamp < knowledge.warp_floor) return true;
  return thread == knowledge.thread && stamp < knowledge.thread_stamp;
}

// Whether `a` says nothing that `b` does not.
bool is_within(const BlockKnowledge& a, const BlockKnowledge& b) {
  if (is_agent(a.thread) || is_agent(b.thread)) {
    return a.thread == b.thread ? a.thread_stamp <= b.thread_stamp : a.thread_stamp == 0;
  }
  if (a.block_floor > b.block_floor) return false;
  const Stamp most = std::max(a.warp_floor, a.thread_stamp);
  if (most <= b.block_floor) return true;
  return a.thread == b.thread && a.warp_floor <= b.warp_floor && a.thread_stamp <= b.thread_stamp;
}

}  // namespace

void GridKnowledge::add(std::uint32_t block, const BlockKnowledge& knowledge) {
  if (block >= blocks_.size()) blocks_.resize(block + 1);
  BlockKnowledge& mine = blocks_[block];
  if (is_within(knowledge, mine)) return;
  if (!is_within(mine, knowledge)) {
    // Two threads of a block: the floors go into the one that stays, the other is remembered beside it.
    for (auto& [other, more] : more_) {
      if (other != block || more.thread != knowledge.thread) continue;
      more.warp_floor = std::max(more.warp_floor, knowledge.warp_floor);
      more.thread_stamp = std::max(more.thread_stamp, knowledge.thread_stamp);
      more.block_floor = std::max(more.block_floor, knowledge.block_floor);
      return;
    }
    more_.emplace_back(block, mine);
  }
  mine = knowledge;
}

void GridKnowledge::join(const GridKnowledge& other) {
  for (std::uint32_t block = 0; block < other.blocks_.size(); ++block) {
    if (other.blocks_[block].thread_stamp != 0) add(block, other.blocks_[block]);
  }
  for (const auto& [block, knowledge] : other.more_) add(block, knowledge);
}

bool GridKnowledge::covers(std::uint32_t block, unsigned thread, Stamp stamp) const {
  if (block < blocks_.size() && is_covered(blocks_[block], thread, stamp)) return true;
  return std::any_of(more_.begin(), more_.end(), [&](const auto& more) {
    return more.first == block && is_covered(more.second, thread, stamp);
  });
}

void ReleasedKnowledge::clear() {
  const std::scoped_lock lock(mutex_);
  released_.clear();
}

void ReleasedKnowledge::release(std::uintptr_t address, const SharedKnowledge& known, const Published& own) {
  const std::scoped_lock lock(mutex_);
  SharedKnowledge& place = released_[address];
  auto all = place != nullptr ? std::make_shared<GridKnowledge>(*place) : std::make_shared<GridKnowledge>();
  if (known != nullptr && known != place) all->join(*known);
  for (const auto& [block, knowledge] : own) all->add(block, knowledge);
  place = std::move(all);
}

SharedKnowledge ReleasedKnowledge::at(std::uintptr_t address) {
  const std::scoped_lock lock(mutex_);
  const auto place = released_.find(address);
  return place == released_.end() ? nullptr : place->second;
}

void GridClocks::start_block() {
  of_block_ = nullptr;
  for (const unsigned thread : used_) of_thread_[thread] = {};
  used_.clear();
}

GridClocks::OfThread& GridClocks::use(unsigned thread) {
  if (std::find(used_.begin(), used_.end(), thread) == used_.end()) used_.push_back(thread);
  return of_thread_[thread];
}

SharedKnowledge GridClocks::joined(const SharedKnowledge& a, const SharedKnowledge& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  auto all = std::make_shared<GridKnowledge>(*a);
  all->join(*b);
  return all;
}

bool GridClocks::is_ordered(std::uint32_t block, unsigned earlier, Stamp stamp, unsigned thread) const {
  if (of_block_ != nullptr && of_block_->covers(block, earlier, stamp)) return true;
  const SharedKnowledge& known = of_thread_[thread].known;
  return known != nullptr && known->covers(block, earlier, stamp);
}

void GridClocks::pass_barrier() {
  for (const unsigned thread : used_) of_block_ = joined(of_block_, of_thread_[thread].known);
}

void GridClocks::pass_collective(unsigned warp, std::uint32_t lanes) {
  SharedKnowledge all;
  for (const unsigned thread : used_) {
    if (thread / kWarpLanes == warp && (lanes >> thread % kWarpLanes & 1u) != 0) {
      all = joined(all, of_thread_[thread].known);
    }
  }
  if (all == nullptr) return;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((lanes >> lane & 1u) != 0) use(warp * kWarpLanes + lane).known = all;
  }
}

void GridClocks::release(unsigned thread, std::uintptr_t address, bool relaxed, const Published& own) {
  const OfThread& mine = of_thread_[thread];
  if (!relaxed) {
    released_.release(address, joined(of_block_, mine.known), own);
  } else if (mine.has_fenced) {
    released_.release(address, mine.fenced, mine.fenced_own);
  }
}

void GridClocks::acquire(unsigned thread, std::uintptr_t address, bool relaxed) {
  const SharedKnowledge released = released_.at(address);
  if (released == nullptr) return;
  OfThread& mine = use(thread);
  SharedKnowledge& place = relaxed ? mine.heard : mine.known;
  place = joined(place, released);
}

void GridClocks::learn(unsigned thread, const SharedKnowledge& knowledge) {
  if (knowledge == nullptr) return;
  SharedKnowledge& known = use(thread).known;
  known = joined(known, knowledge);
}

void GridClocks::fence(unsigned thread, Published own) {
  OfThread& mine = use(thread);
  mine.known = joined(mine.known, mine.heard);
  mine.fenced = joined(of_block_, mine.known);
  mine.fenced_own = std::move(own);
  mine.has_fenced = true;
}

}  // namespace rooftile::simt::checked
