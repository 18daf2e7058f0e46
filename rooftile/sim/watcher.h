// What may watch a launch: the metrics and checks of sim/checked/. The executor tells what it does and knows
// nothing of what is made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {

class BlockRunner;
class GridRun;

// The blocks of one OS thread, one after the other. Called on that OS thread.
class BlockWatcher {
 public:
  virtual ~BlockWatcher() = default;
  virtual void block_started(std::uint64_t linear_block) = 0;
  // All threads of the block that have not exited have arrived, and go on.
  virtual void barrier_passed(std::source_location where) = 0;
  // The lanes that took part, of those that the mask names.
  virtual void collective_passed(unsigned warp, WarpOp op, std::uint32_t mask, std::uint32_t lanes,
                                 const std::uint8_t* source_lanes, std::source_location where) = 0;
  virtual void thread_exited(const ThreadRecord& thread) = 0;
  virtual void grid_passed() = 0;
  // The current thread arrives at an mbarrier, or has seen it complete.
  virtual void mbarrier_arrived(const void* mbarrier) = 0;
  virtual void mbarrier_passed(const void* mbarrier) = 0;
  // The current thread starts an asynchronous copy to these bytes: it may write them from now on.
  virtual void copy_issued(const void* target, std::size_t bytes, std::source_location where) = 0;
  // An asynchronous copy has written these bytes.
  virtual void copy_landed(const void* target, std::size_t bytes) = 0;
  // No lane of the warp can run: the lanes that the watcher held and lets go on now; 0 where it holds none.
  virtual std::uint32_t release_held(unsigned warp) = 0;
  // True: this barrier or __syncwarp is passed as if it were not there (the mutation test).
  [[nodiscard]] virtual bool is_disabled(std::source_location where) = 0;
};

class LaunchWatcher {
 public:
  virtual ~LaunchWatcher() = default;
  virtual void launch_started(const GridRun& grid) = 0;
  // On each OS thread that takes part, before its first block and after its last.
  [[nodiscard]] virtual BlockWatcher* enter(const GridRun& grid, BlockRunner& runner) = 0;
  virtual void leave(BlockWatcher& watcher) = 0;
  // A block has failed: "deadlock: ...", with the block and thread that the text names.
  virtual void launch_failed(const std::string& what) = 0;
};

// Of the block that the calling OS thread runs; null where nobody watches.
[[nodiscard]] BlockWatcher* block_watcher();

// Tells the watcher, where there is one.
void note_copy(const void* target, std::size_t bytes, std::source_location where);

// Watches all launches from the next one on; null: none. Not while a launch runs.
void set_launch_watcher(LaunchWatcher* watcher);
[[nodiscard]] LaunchWatcher* launch_watcher();

}  // namespace rooftile::simt::detail
