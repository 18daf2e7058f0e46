// Happens-before among the threads of one block, by per-lane vector clocks.
//
// A stamp is a time of the OS thread that runs the block; it grows at every synchronisation and over all of
// its blocks, so that marks of earlier blocks are old by themselves. Most synchronisation joins a whole block
// or a whole warp, and is one number (a floor: everything before it is known to all); only partial masks and
// acquired releases need clocks lane by lane.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "rooftile/sim/block.h"

namespace rooftile::simt::checked {

using Stamp = std::uint32_t;

// What is known of one thread's releases: of its block, its warp, and itself the accesses below these stamps.
struct BlockKnowledge {
  Stamp block_floor = 0;
  Stamp warp_floor = 0;
  Stamp thread_stamp = 0;
  std::uint16_t thread = 0;
};

class LaneClocks {
 public:
  void start_block(unsigned threads);

  // What an access of the thread is marked with now.
  [[nodiscard]] Stamp stamp(unsigned thread) const;
  // Marks below it are known to every thread of the block.
  [[nodiscard]] Stamp floor() const { return floor_; }
  // Whether an access of `earlier` with this stamp is ordered before what `thread` does now.
  [[nodiscard]] bool is_ordered(unsigned earlier, Stamp stamp, unsigned thread) const;

  void pass_barrier();
  // `whole`: the lanes are all that have not exited.
  void pass_collective(unsigned warp, std::uint32_t lanes, bool whole);

  // What a release of this thread tells other blocks; its accesses from now on are later.
  [[nodiscard]] BlockKnowledge publish(unsigned thread);

  // Memory order through an atomic at this address; relaxed ones count together with a fence.
  void release(unsigned thread, std::uintptr_t address, bool relaxed);
  void acquire(unsigned thread, std::uintptr_t address, bool relaxed);
  void fence(unsigned thread);

 private:
  using Clock = std::vector<Stamp>;  // per thread of the block: marks below are known; empty: none

  static constexpr unsigned kWarpLanes = detail::kWarpLanes;
  struct WarpClocks {
    Stamp floor = 0;
    bool partial = false;  // `seen` and `own` hold something of this block
    std::array<std::array<Stamp, kWarpLanes>, kWarpLanes> seen;  // [lane][other]
    std::array<Stamp, kWarpLanes> own;
  };
  [[nodiscard]] Clock clock_of(unsigned thread);
  void use_partial(WarpClocks& warp);
  static void join(Clock& into, const Clock& from);

  Stamp now_ = 1;
  Stamp floor_ = 1;
  unsigned threads_ = 0;
  std::vector<WarpClocks> warps_ = std::vector<WarpClocks>(detail::kMaxWarps);

  // Rare: blocks that synchronise through memory.
  bool has_known_ = false;
  std::vector<Clock> known_;   // per thread: acquired
  std::vector<Clock> heard_;   // per thread: read by relaxed atomics, known after a fence
  std::vector<Clock> fenced_;  // per thread: what its relaxed atomics release
  std::unordered_map<std::uintptr_t, Clock> released_;
};

}  // namespace rooftile::simt::checked
