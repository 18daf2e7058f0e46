// Thread-block clusters of the simulated SM: the blocks of a cluster run at the same time, each on an OS
// thread of its own, one cluster after the other; distributed shared memory is their memory in this process.
//
// A launch without clusters has clusters of one block, as on the GPU.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <source_location>
#include <vector>

#include "rooftile/sim/shared_memory.h"
#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {

class GridRun;

// What the blocks of the running cluster share.
class ClusterRun {
 public:
  // Of one block.
  ClusterRun() : ClusterRun(dim3(1), nullptr) {}
  ClusterRun(dim3 extent, GridRun* grid);

  const dim3 extent;
  const unsigned blocks;

  // By the OS thread of each block, once, before its first block.
  void enter(unsigned rank, MemoryRange dynamic_shared);
  // Waits until all blocks of the cluster have returned; the next one's number, or false when it was the
  // last or the launch has failed.
  [[nodiscard]] bool next(std::uint64_t& cluster);
  // A cluster starts: all its blocks are alive. By next(), or by the runner of a cluster of one.
  void start();

  // The cluster's barrier; a block arrives when all its live threads have.
  void block_arrived();
  void block_returned(unsigned rank);
  [[nodiscard]] std::uint32_t phases() const { return phases_.load(std::memory_order_acquire); }

  // Whether its shared memory is still there.
  [[nodiscard]] bool alive(unsigned rank) const { return members_[rank].alive.load(); }
  // Where an address in the shared memory of block `from` lies in that of block `to`.
  [[nodiscard]] void* map(const void* address, unsigned from, unsigned to) const;

 private:
  struct Member {
    MemoryRange dynamic_shared;
    std::vector<MemoryRange> static_shared;
    std::atomic<bool> alive{true};
  };
  void release_if_complete();
  void start_next();

  GridRun* grid_;
  std::unique_ptr<Member[]> members_;
  struct StartNext {  // by the last block that gets there
    ClusterRun* run;
    void operator()() noexcept { run->start_next(); }
  };
  std::barrier<StartNext> all_returned_;
  std::uint64_t next_ = 0;
  bool started_ = false;
  bool stopped_ = false;

  std::mutex mutex_;
  unsigned running_ = 0;
  unsigned arrived_ = 0;
  std::atomic<std::uint32_t> phases_{0};
};

// What kernels call.

inline const uint3& cluster_block_index() { return current_block->cluster_index; }
inline const dim3& cluster_extent() { return current_block->cluster_dim; }
inline unsigned cluster_rank() { return current_block->cluster_rank; }
inline unsigned cluster_blocks() {
  const dim3& extent = cluster_extent();
  return extent.x * extent.y * extent.z;
}

// Every thread of the cluster arrives, then waits; exited threads count as arrived.
void cluster_arrive(std::source_location where);
void cluster_arrive_relaxed(std::source_location where);  // orders no memory
void cluster_wait(std::source_location where);

// The same place in the shared memory of the cluster's block `rank`.
void* map_shared_rank(const void* address, unsigned rank, std::source_location where);

}  // namespace rooftile::simt::detail
