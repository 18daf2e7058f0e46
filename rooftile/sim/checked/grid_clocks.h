// Happens-before between the blocks of a launch: what a thread has acquired of other blocks.
//
// Only atomics order blocks. Who releases publishes what its block's barriers,
// its warp's barriers and it itself have done, and all that it has acquired;
// who acquires knows that, and its block does behind the next barrier.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "rooftile/sim/block.h"
#include "rooftile/sim/checked/lane_clocks.h"

namespace rooftile::simt::checked {

// By block of the grid. Mostly one thread of a block releases; what others release is in the list.
class GridKnowledge {
 public:
  void add(std::uint32_t block, const BlockKnowledge& knowledge);
  void join(const GridKnowledge& other);
  [[nodiscard]] bool covers(std::uint32_t block, unsigned thread, Stamp stamp) const;

 private:
  std::vector<BlockKnowledge> blocks_;
  std::vector<std::pair<std::uint32_t, BlockKnowledge>> more_;
};
using SharedKnowledge = std::shared_ptr<const GridKnowledge>;  // null: nothing

// What was released at addresses, by all blocks of a launch. Thread-safe.
class ReleasedKnowledge {
 public:
  void clear();
  void release(std::uintptr_t address, const SharedKnowledge& known, const Published& own);
  [[nodiscard]] SharedKnowledge at(std::uintptr_t address);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, SharedKnowledge> released_;
};

// What the threads of one block know of others. `thread` is a number in the block; `earlier` one of
// LaneClocks, and may be an agent.
class GridClocks {
 public:
  explicit GridClocks(ReleasedKnowledge& released) : released_(released), of_thread_(kMaxBlockThreads) {}

  void start_block();
  [[nodiscard]] bool is_ordered(std::uint32_t block, unsigned earlier, Stamp stamp, unsigned thread) const;

  void pass_barrier();
  void pass_collective(unsigned warp, std::uint32_t lanes);
  void release(unsigned thread, std::uintptr_t address, bool relaxed, const Published& own);
  void acquire(unsigned thread, std::uintptr_t address, bool relaxed);
  void fence(unsigned thread, Published own);
  // What goes from thread to thread through mbarriers and the cluster's barrier.
  [[nodiscard]] SharedKnowledge knowledge(unsigned thread) const {
    return joined(of_block_, of_thread_[thread].known);
  }
  void learn(unsigned thread, const SharedKnowledge& knowledge);
  [[nodiscard]] static SharedKnowledge joined(const SharedKnowledge& a, const SharedKnowledge& b);

 private:
  struct OfThread {
    SharedKnowledge known;  // beyond its block's
    SharedKnowledge heard;  // by relaxed atomics, known after a fence
    SharedKnowledge fenced;
    Published fenced_own;
    bool has_fenced = false;
  };
  OfThread& use(unsigned thread);

  ReleasedKnowledge& released_;
  SharedKnowledge of_block_;
  std::vector<OfThread> of_thread_;
  std::vector<unsigned> used_;  // threads whose entry holds something
};

}  // namespace rooftile::simt::checked
