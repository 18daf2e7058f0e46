// What the checkers of one cluster's blocks share; of a launch without clusters each has its own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>

#include "rooftile/sim/checked/async_agents.h"
#include "rooftile/sim/checked/lane_clocks.h"
#include "rooftile/sim/checked/proxy_fences.h"
#include "rooftile/sim/checked/session_state.h"

namespace rooftile::simt::checked {

struct ClusterState {
  explicit ClusterState(unsigned block_count) : blocks(block_count) {}
  // By the first of its blocks that starts.
  void start(std::uint64_t new_cluster, unsigned block_threads);
  // Several blocks are several OS threads.
  [[nodiscard]] std::unique_lock<std::mutex> lock() {
    return blocks > 1 ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
  }

  const unsigned blocks;
  std::array<Checker*, kMaxClusterBlocks> members{};  // by rank; all are there before a cluster starts
  std::mutex mutex;

  // Of the cluster that runs, behind the lock.
  std::uint64_t cluster = ~std::uint64_t{0};
  LaneClocks clocks;
  AsyncAgents agents{clocks};
  ProxyFences shared_fences;

  // What arrives at a phase of the cluster's barrier; nobody is two phases ahead of another.
  struct Barrier {
    std::uint32_t phase = 0;
    SharedKnowledge grid;
  };
  std::array<Barrier, 2> barriers;

  // The last use of a block's shared memory by each thread or agent of another block.
  struct RemoteUse {
    Stamp stamp = 0;
    Place place;
    AccessKind kind = AccessKind::load;
    std::uint32_t block = 0;  // that the thread belongs to
  };
  std::array<std::map<unsigned, RemoteUse>, kMaxClusterBlocks> remote_uses;
  std::array<bool, kMaxClusterBlocks> returned{};
};

}  // namespace rooftile::simt::checked
