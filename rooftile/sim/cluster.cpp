#include "rooftile/sim/cluster.h"

#include <string>

#include "rooftile/sim/block.h"
#include "rooftile/sim/grid.h"

namespace rooftile::simt::detail {
namespace {

[[noreturn]] void misuse(std::string what, std::source_location where) {
  report_failure(what, where);
  std::string().swap(what);  // nothing on an abandoned stack is destroyed
  abandon_thread();
}

}  // namespace

ClusterRun::ClusterRun(dim3 cluster_extent, GridRun* grid)
    : extent(cluster_extent),
      blocks(cluster_extent.x * cluster_extent.y * cluster_extent.z),
      grid_(grid),
      members_(std::make_unique<Member[]>(blocks)),
      all_returned_(static_cast<std::ptrdiff_t>(blocks), {this}) {}

void ClusterRun::start_next() {
  if (started_) ++next_;
  started_ = true;
  stopped_ = next_ * blocks >= grid_->blocks || grid_->failed();
  start();
}

void ClusterRun::enter(unsigned rank, MemoryRange dynamic_shared) {
  members_[rank].dynamic_shared = dynamic_shared;
  members_[rank].static_shared = static_shared_memory();
}

bool ClusterRun::next(std::uint64_t& cluster) {
  grid_->busy.fetch_sub(1);
  all_returned_.arrive_and_wait();
  grid_->busy.fetch_add(1);
  cluster = next_;
  return !stopped_;
}

void ClusterRun::start() {
  running_ = blocks;
  arrived_ = 0;
  phases_.store(0, std::memory_order_relaxed);
  for (unsigned rank = 0; rank < blocks; ++rank) members_[rank].alive.store(true);
}

void ClusterRun::block_arrived() {
  const std::scoped_lock lock(mutex_);
  ++arrived_;
  release_if_complete();
}

void ClusterRun::block_returned(unsigned rank) {
  const std::scoped_lock lock(mutex_);
  members_[rank].alive.store(false);
  --running_;
  release_if_complete();
}

void ClusterRun::release_if_complete() {
  if (arrived_ == 0 || arrived_ < running_) return;
  arrived_ = 0;
  phases_.fetch_add(1, std::memory_order_release);
  note_progress();
}

void* ClusterRun::map(const void* address, unsigned from, unsigned to) const {
  const auto same_place = [address](const MemoryRange& here, const MemoryRange& there) {
    return there.begin +
           (reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(here.begin));
  };
  const Member& here = members_[from];
  const Member& there = members_[to];
  if (here.dynamic_shared.contains(address, 1)) return same_place(here.dynamic_shared, there.dynamic_shared);
  for (std::size_t i = 0; i < here.static_shared.size() && i < there.static_shared.size(); ++i) {
    if (here.static_shared[i].contains(address, 1)) {
      return same_place(here.static_shared[i], there.static_shared[i]);
    }
  }
  return nullptr;
}

void BlockRunner::join(ClusterRun& cluster, unsigned rank) {
  cluster_ = &cluster;
  block_.cluster_dim = cluster.extent;
  block_.cluster_rank = rank;
  const unsigned row = rank / cluster.extent.x;
  block_.cluster_index = {rank % cluster.extent.x, row % cluster.extent.y, row / cluster.extent.y};
}

void BlockRunner::run_clusters(GridRun& grid) {
  cluster_->enter(block_.cluster_rank,
                  {static_cast<std::byte*>(block_.dynamic_shared), block_.dynamic_shared_bytes});
  const dim3 extent = cluster_->extent;
  const dim3 clusters(grid.shape.grid.x / extent.x, grid.shape.grid.y / extent.y,
                      grid.shape.grid.z / extent.z);
  for (std::uint64_t cluster = 0; cluster_->next(cluster);) {
    const std::uint64_t row = cluster / clusters.x;
    const std::uint64_t x = cluster % clusters.x * extent.x + block_.cluster_index.x;
    const std::uint64_t y = row % clusters.y * extent.y + block_.cluster_index.y;
    const std::uint64_t z = row / clusters.y * extent.z + block_.cluster_index.z;
    run_block(x + grid.shape.grid.x * (y + std::uint64_t{grid.shape.grid.y} * z));
    cluster_->block_returned(block_.cluster_rank);
  }
}

void BlockRunner::cluster_arrive(bool relaxed, std::source_location where) {
  ThreadRecord& self = *current_thread;
  if (self.cluster_arrived) {
    misuse("cluster_arrive: this thread has arrived already and has not waited", where);
  }
  self.cluster_arrived = true;
  self.cluster_phase = cluster_phase_ + 1;
  cluster_arrive_where_ = where;
  if (watcher_ != nullptr) watcher_->cluster_arrived(self.cluster_phase, relaxed && !self.mbarriers_fenced);
  self.mbarriers_fenced = false;
  ++cluster_arrived_;
  arrive_at_cluster();
}

void BlockRunner::arrive_at_cluster() {
  if (cluster_arrived_ == 0 || cluster_arrived_ < live_) return;
  cluster_arrived_ = 0;
  ++cluster_phase_;
  cluster_->block_arrived();
}

void BlockRunner::cluster_wait(std::source_location where) {
  ThreadRecord& self = *current_thread;
  if (!self.cluster_arrived) misuse("cluster_wait: this thread has not arrived", where);
  // Once at least: else the last lane to arrive would go on before its warp.
  do poll("cluster_wait", where);
  while (cluster_->phases() < self.cluster_phase);
  self.cluster_arrived = false;
  if (watcher_ != nullptr) watcher_->cluster_passed(self.cluster_phase, where);
}

void BlockRunner::fail_left_cluster_barrier() {
  misuse("returned between cluster_arrive and cluster_wait: others may still use the block's shared memory",
         cluster_arrive_where_);
}

void* BlockRunner::map_shared(const void* address, unsigned rank, std::source_location where) {
  if (rank >= cluster_->blocks) {
    misuse("rank " + std::to_string(rank) + " is not in the cluster of " + std::to_string(cluster_->blocks) +
               " blocks",
           where);
  }
  if (!in_shared_memory(address, 1)) {
    misuse("the address to map is not in this block's shared memory", where);
  }
  if (rank == block_.cluster_rank) return const_cast<void*>(address);
  if (!cluster_->alive(rank)) {
    misuse("block " + std::to_string(rank) +
               " of the cluster has returned, and its shared memory is gone: cluster_sync() before the end",
           where);
  }
  return cluster_->map(address, block_.cluster_rank, rank);
}

void cluster_arrive(std::source_location where) {
  if (!is_disabled(where)) current_runner->cluster_arrive(false, where);
}
void cluster_arrive_relaxed(std::source_location where) {
  if (!is_disabled(where)) current_runner->cluster_arrive(true, where);
}
void cluster_wait(std::source_location where) {
  if (!is_disabled(where)) current_runner->cluster_wait(where);
}
void* map_shared_rank(const void* address, unsigned rank, std::source_location where) {
  return current_runner->map_shared(address, rank, where);
}

}  // namespace rooftile::simt::detail
