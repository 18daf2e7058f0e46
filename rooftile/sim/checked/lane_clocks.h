// Happens-before among the threads of one block, or of the blocks of one cluster, by vector clocks.
//
// Besides threads there are agents: asynchronous copies that are waited for together (at one mbarrier, or in
// one thread's groups). An agent's access is marked with the time of its issue, and is ordered before who has
// learned a later time of the agent.
//
// A stamp is a time of the OS threads that run the cluster; it grows at every synchronisation and over all of
// its blocks, so that marks of earlier blocks are old by themselves. Most synchronisation joins a whole block
// or a whole warp, and is one number (a floor: everything that its threads did before is known to all); only
// partial masks, agents and what was acquired need clocks.
//
// Threads are numbered through the cluster: block by rank, each from a multiple of 32 on. Of a cluster of
// several blocks, which are several OS threads, the caller locks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "rooftile/sim/block.h"

namespace rooftile::simt::checked {

using Stamp = std::uint32_t;

inline constexpr unsigned kMaxClusterBlocks = 16;
inline constexpr unsigned kFirstAgent = kMaxClusterBlocks * kMaxBlockThreads;
[[nodiscard]] constexpr bool is_agent(unsigned id) { return id >= kFirstAgent; }

// Of two marks: both are stores of threads and neither is atomic.
template <class Mark>
[[nodiscard]] bool are_plain_stores(const Mark& a, const Mark& b) {
  return a.write && !a.atomic && !is_agent(a.thread) && b.write && !b.atomic && !is_agent(b.thread);
}

// What is known of one thread's releases: of its block, its warp, and itself the accesses below these stamps.
// Of an agent, `thread_stamp` alone.
struct BlockKnowledge {
  Stamp block_floor = 0;
  Stamp warp_floor = 0;
  Stamp thread_stamp = 0;
  std::uint16_t thread = 0;
};
// Of a block, by its number in the grid.
using Published = std::vector<std::pair<std::uint32_t, BlockKnowledge>>;

class LaneClocks {
 public:
  using Clock = std::vector<Stamp>;  // by slot: marks below are known; empty: none

  // A cluster starts, of blocks with so many threads; stamps up to `last` are of the past.
  void start(unsigned blocks, unsigned block_threads, Stamp last);
  // The block's number in the grid; before its threads run.
  void set_block(unsigned rank, std::uint32_t block) { blocks_[rank].number = block; }
  [[nodiscard]] bool has_block(std::uint32_t block) const;
  [[nodiscard]] std::uint32_t block_number(unsigned rank) const { return blocks_[rank].number; }
  [[nodiscard]] unsigned stride() const { return stride_; }  // from block to block
  [[nodiscard]] unsigned first_thread(unsigned rank) const { return rank * stride_; }
  [[nodiscard]] unsigned rank_of(unsigned thread) const { return thread / stride_; }

  // What an access of the thread is marked with now; of an agent: now().
  [[nodiscard]] Stamp stamp(unsigned thread) const {
    const WarpClocks& warp = warps_[thread / kWarpLanes];
    const Stamp joined = std::max(blocks_[count_ == 1 ? 0 : rank_of(thread)].floor, warp.floor);
    return warp.partial ? std::max(joined, warp.own[thread % kWarpLanes]) : joined;
  }
  [[nodiscard]] Stamp now() const { return now_; }
  [[nodiscard]] Stamp advance() { return ++now_; }
  // Whether an access of `earlier`, thread or agent, is ordered before what `thread` does now.
  [[nodiscard]] bool is_ordered(unsigned earlier, Stamp stamp, unsigned thread) const {
    if (stamp < start_ || earlier == thread) return true;
    if (count_ == 1 && stamp < blocks_[0].floor && !is_agent(earlier)) return true;
    return is_known(earlier, stamp, thread);
  }
  // Whether all know of it who may access what it accessed: a quick
  // answer, which may be no. In a cluster other blocks may, too.
  [[nodiscard]] bool is_old(unsigned earlier, Stamp stamp) const {
    return stamp < start_ || (count_ == 1 && !is_agent(earlier) && stamp < blocks_[0].floor);
  }
  // Marks of earlier clusters lie below it.
  [[nodiscard]] Stamp start_stamp() const { return start_; }

  void pass_barrier(unsigned rank);
  // The thread arrives at a phase of the cluster's barrier, the first of which is 1, and brings what it knows, or, relaxed,
  // nothing. Who has passed a phase knows what was brought to it and to those before. All threads pass every phase, so that
  // they share it: a clock for each of them would be the square of their number.
  void arrive_at_phase(unsigned thread, std::uint32_t phase);
  void pass_phase(unsigned thread, std::uint32_t phase);
  // `whole`: the lanes are all that have not exited. The warp is numbered through the cluster.
  void pass_collective(unsigned warp, std::uint32_t lanes, bool whole);

  // What a release of this thread tells other clusters; its accesses from now on are later.
  [[nodiscard]] Published publish(unsigned thread);
  // All that the thread knows and has done; its accesses from now on are later.
  [[nodiscard]] Clock knowledge(unsigned thread);
  void learn(unsigned thread, const Clock& clock);
  void learn(unsigned thread, unsigned agent, Stamp stamp);
  // The thread's accesses from now on are later than this time, and those before earlier.
  Stamp mark_time(unsigned thread);
  static void join(Clock& into, const Clock& from);
  void set(Clock& clock, unsigned id, Stamp stamp) const;

  // Memory order through an atomic at this address; relaxed ones count together with a fence.
  void release(unsigned thread, std::uintptr_t address, bool relaxed);
  void acquire(unsigned thread, std::uintptr_t address, bool relaxed);
  void fence(unsigned thread);

 private:
  static constexpr unsigned kWarpLanes = detail::kWarpLanes;
  struct WarpClocks {
    Stamp floor = 0;
    bool partial = false;  // `seen` and `own` hold something of this block
    std::array<std::array<Stamp, kWarpLanes>, kWarpLanes> seen;  // [lane][other]
    std::array<Stamp, kWarpLanes> own;
  };
  static constexpr std::uint32_t kNotStarted = ~std::uint32_t{0};
  struct OfBlock {
    std::uint32_t number = kNotStarted;
    Stamp floor = 0;
    Clock known;  // to all of its threads, beyond the floor
  };
  [[nodiscard]] std::size_t slot(unsigned id) const {
    return is_agent(id) ? threads_ + (id - kFirstAgent) : id;
  }
  // A thread may have passed one phase while others arrive at the next but one.
  struct Phase {
    std::uint32_t number = 0;
    Clock gathered;
    std::array<Stamp, kMaxClusterBlocks> floors{};  // of each block, as far as they are in `gathered`
  };
  [[nodiscard]] Phase& phase_of(std::uint32_t number);
  // What the thread knows by the cluster's barrier; empty: nothing, or it has exited long ago.
  [[nodiscard]] const Clock& phase_knowledge(unsigned thread) const {
    static const Clock kNothing;
    const Phase& phase = phases_[passed_[thread] % phases_.size()];
    return phase.number == passed_[thread] ? phase.gathered : kNothing;
  }
  [[nodiscard]] bool is_known(unsigned earlier, Stamp stamp, unsigned thread) const;
  void add_warp(Clock& clock, unsigned thread);
  static void use_partial(WarpClocks& warp);
  void use_known();

  Stamp now_ = 1;
  Stamp start_ = 1;
  unsigned count_ = 1;  // blocks
  unsigned stride_ = kMaxBlockThreads;
  unsigned threads_ = 0;  // of all blocks, with the gaps between them
  std::array<OfBlock, kMaxClusterBlocks> blocks_;
  std::vector<WarpClocks> warps_;

  std::uint32_t last_phase_ = 0;  // that a thread has arrived at or passed
  std::array<Phase, 3> phases_;
  std::vector<std::uint32_t> passed_;  // per thread, the last phase; 0: none

  // Rarer: threads that synchronise through memory, and agents.
  bool has_known_ = false;
  std::vector<Clock> known_;   // per thread: acquired
  std::vector<Clock> heard_;   // per thread: read by relaxed atomics, known after a fence
  std::vector<Clock> fenced_;  // per thread: what its relaxed atomics release
  std::unordered_map<std::uintptr_t, Clock> released_;
};

}  // namespace rooftile::simt::checked
