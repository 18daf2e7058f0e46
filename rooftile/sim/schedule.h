// The scheduler's hot path, shared by barriers and warp collectives: a switch is a few nanoseconds, and every
// cache line that it touches is multiplied by the threads of a block.
#pragma once

#include <bit>
#include <cstdint>

#include "rooftile/sim/block.h"

namespace rooftile::simt::detail {

// SplitMix64 (Steele, Lea, Flood 2014).
inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

inline unsigned BlockRunner::choose(std::uint32_t candidates) {
  if (candidates == 0) __builtin_unreachable();  // callers have somebody to choose from
  switch (order_) {
    case LaneOrder::forward:
      break;
    case LaneOrder::reversed:
      return 31u - static_cast<unsigned>(std::countl_zero(candidates));
    case LaneOrder::random: {
      const auto count = static_cast<std::uint64_t>(std::popcount(candidates));
      for (std::uint64_t skip = (next_random(random_) >> 32) * count >> 32; skip > 0; --skip) {
        candidates &= candidates - 1;
      }
      break;
    }
  }
  return static_cast<unsigned>(std::countr_zero(candidates));
}

inline ThreadRecord* BlockRunner::pick() {
  if (ready_warps_ == 0) return nullptr;
  if ((ready_warps_ >> current_warp_ & 1u) == 0 || order_ == LaneOrder::random)
    current_warp_ = choose(ready_warps_);
  WarpState& warp = warps_[current_warp_];
  const unsigned lane = choose(warp.ready);
  warp.ready &= ~(1u << lane);
  if (warp.ready == 0) ready_warps_ &= ~(1u << current_warp_);
  return &threads_[current_warp_ * kWarpLanes + lane];
}

inline void BlockRunner::make_ready(unsigned warp, std::uint32_t lanes) {
  if (lanes == 0) return;
  warps_[warp].ready |= lanes;
  ready_warps_ |= 1u << warp;
}

// Called when a lane of the warp has stopped: what the watcher holds goes on when nobody else of the warp can,
// and behind that what asks for the active lanes.
inline void BlockRunner::let_waiting_go_on(unsigned warp) {
  if (watcher_ != nullptr && warps_[warp].ready == 0) make_ready(warp, watcher_->release_held(warp));
  if (warps_[warp].at_activemask != 0 && warps_[warp].ready == 0) release_active(warps_[warp], warp);
}

inline Context& BlockRunner::activate(ThreadRecord& thread) {
  if (thread.fiber == nullptr) [[unlikely]]
    thread.fiber = &fibers_.take();
  current_thread = &thread;
  return thread.fiber->context;
}

inline void BlockRunner::switch_away(ThreadRecord& self) {
  beat();
  if (watcher_ != nullptr || warps_[self.warp].at_activemask != 0) [[unlikely]]
    let_waiting_go_on(self.warp);
  ThreadRecord* next = pick();
  if (next == &self) return;
  switch_context(self.fiber->context, next != nullptr ? activate(*next) : scheduler_);
}

}  // namespace rooftile::simt::detail
