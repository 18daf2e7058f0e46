// The groups of a launch: the grid, the cluster, the block.
#pragma once

#include <source_location>

#include "rooftile/sim/cluster.h"
#include "rooftile/sim/collectives.h"
#include "rooftile/sim/thread.h"
#include "rooftile/sim/vector_types.h"

namespace rooftile::simt::cooperative_groups {

namespace detail_cg {
inline unsigned count_of(const dim3& extent) { return extent.x * extent.y * extent.z; }
inline unsigned block_threads() { return count_of(detail::block_extent()); }
inline unsigned long long grid_blocks() {
  const dim3& extent = detail::grid_extent();
  return static_cast<unsigned long long>(extent.x) * extent.y * extent.z;
}
}  // namespace detail_cg

class grid_group {
 public:
  // Every thread of the grid must call it: a block in which a thread has returned never gets past it.
  void sync(std::source_location where = std::source_location::current()) const {
    detail::grid_barrier(where);
  }
  [[nodiscard]] bool is_valid() const { return detail::current_block->cooperative; }
  [[nodiscard]] dim3 block_index() const { return detail::block_index(); }
  [[nodiscard]] dim3 dim_blocks() const { return detail::grid_extent(); }
  [[nodiscard]] dim3 group_dim() const { return detail::grid_extent(); }
  [[nodiscard]] unsigned long long block_rank() const {
    const uint3& index = detail::block_index();
    const dim3& extent = detail::grid_extent();
    return index.x + static_cast<unsigned long long>(extent.x) *
                         (index.y + static_cast<unsigned long long>(extent.y) * index.z);
  }
  [[nodiscard]] unsigned long long num_blocks() const { return detail_cg::grid_blocks(); }
  [[nodiscard]] unsigned long long size() const { return num_blocks() * detail_cg::block_threads(); }
  [[nodiscard]] unsigned long long num_threads() const { return size(); }
  [[nodiscard]] unsigned long long thread_rank() const {
    return block_rank() * detail_cg::block_threads() + detail::current_thread->linear;
  }
};
inline grid_group this_grid() { return {}; }

// A launch without clusters has clusters of one block.
class cluster_group {
 public:
  struct arrival_token {};

  static void sync(std::source_location where = std::source_location::current()) {
    detail::cluster_arrive(where);
    detail::cluster_wait(where);
  }
  static arrival_token barrier_arrive(std::source_location where = std::source_location::current()) {
    detail::cluster_arrive(where);
    return {};
  }
  static void barrier_wait(std::source_location where = std::source_location::current()) {
    detail::cluster_wait(where);
  }
  static void barrier_wait(arrival_token&&, std::source_location where = std::source_location::current()) {
    detail::cluster_wait(where);
  }
  [[nodiscard]] static dim3 block_index() { return detail::cluster_block_index(); }
  [[nodiscard]] static unsigned block_rank() { return detail::cluster_rank(); }
  [[nodiscard]] static dim3 thread_index() {
    const uint3& block = detail::cluster_block_index();
    const uint3& thread = detail::thread_index();
    const dim3& extent = detail::block_extent();
    return {block.x * extent.x + thread.x, block.y * extent.y + thread.y, block.z * extent.z + thread.z};
  }
  [[nodiscard]] static unsigned thread_rank() {
    return block_rank() * detail_cg::block_threads() + detail::current_thread->linear;
  }
  [[nodiscard]] static dim3 dim_blocks() { return detail::cluster_extent(); }
  [[nodiscard]] static unsigned num_blocks() { return detail::cluster_blocks(); }
  [[nodiscard]] static dim3 dim_threads() {
    const dim3& blocks = detail::cluster_extent();
    const dim3& threads = detail::block_extent();
    return {blocks.x * threads.x, blocks.y * threads.y, blocks.z * threads.z};
  }
  [[nodiscard]] static unsigned num_threads() { return num_blocks() * detail_cg::block_threads(); }
  [[nodiscard]] static unsigned size() { return num_threads(); }
  // The same variable of the cluster's block `rank`.
  template <class T>
  [[nodiscard]] static T* map_shared_rank(T* address, int rank,
                                          std::source_location where = std::source_location::current()) {
    return static_cast<T*>(detail::map_shared_rank(address, static_cast<unsigned>(rank), where));
  }
};
inline cluster_group this_cluster() { return {}; }

class thread_block {
 public:
  static void sync(std::source_location where = std::source_location::current()) {
    detail::block_barrier(detail::BarrierOp::plain, false, where);
  }
  [[nodiscard]] static unsigned thread_rank() { return detail::current_thread->linear; }
  [[nodiscard]] static unsigned size() { return detail_cg::block_threads(); }
  [[nodiscard]] static unsigned num_threads() { return size(); }
  [[nodiscard]] static dim3 group_index() { return detail::block_index(); }
  [[nodiscard]] static dim3 thread_index() { return detail::thread_index(); }
  [[nodiscard]] static dim3 dim_threads() { return detail::block_extent(); }
  [[nodiscard]] static dim3 group_dim() { return dim_threads(); }
};
inline thread_block this_thread_block() { return {}; }

// On the GPU tiles of several warps meet there; here tiles are parts of a warp, which need no memory.
template <unsigned kMaxBlockSize = 1024>
struct block_tile_memory {
  unsigned char unused[8];
};
template <unsigned kMaxBlockSize>
thread_block this_thread_block(block_tile_memory<kMaxBlockSize>&) {
  return {};
}

}  // namespace rooftile::simt::cooperative_groups
