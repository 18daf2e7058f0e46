// The subset of cooperative groups that kernels may use: the grid, the block, and tiles of a warp.
#pragma once

#include <source_location>

#include "rooftile/sim/collectives.h"
#include "rooftile/sim/thread.h"
#include "rooftile/sim/vector_types.h"

namespace rooftile::simt::cooperative_groups {

namespace detail_cg {
inline unsigned block_threads() {
  const dim3& extent = detail::block_extent();
  return extent.x * extent.y * extent.z;
}
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

class thread_block {
 public:
  void sync(std::source_location where = std::source_location::current()) const {
    detail::block_barrier(detail::BarrierOp::plain, false, where);
  }
  [[nodiscard]] unsigned thread_rank() const { return detail::current_thread->linear; }
  [[nodiscard]] unsigned size() const { return detail_cg::block_threads(); }
  [[nodiscard]] unsigned num_threads() const { return size(); }
  [[nodiscard]] dim3 group_index() const { return detail::block_index(); }
  [[nodiscard]] dim3 thread_index() const { return detail::thread_index(); }
  [[nodiscard]] dim3 dim_threads() const { return detail::block_extent(); }
};
inline thread_block this_thread_block() { return {}; }

// kSize consecutive lanes of a warp.
template <unsigned kSize>
class thread_block_tile {
  static_assert(kSize >= 1 && kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "tiles are powers of two within a warp");

 public:
  [[nodiscard]] unsigned thread_rank() const { return detail::current_thread->lane % kSize; }
  [[nodiscard]] static constexpr unsigned size() { return kSize; }
  [[nodiscard]] static constexpr unsigned num_threads() { return kSize; }
  [[nodiscard]] unsigned meta_group_rank() const { return detail::current_thread->linear / kSize; }
  [[nodiscard]] unsigned meta_group_size() const { return (detail_cg::block_threads() + kSize - 1) / kSize; }

  void sync(std::source_location where = std::source_location::current()) const { __syncwarp(mask(), where); }
  template <class T>
  T shfl(T value, int source, std::source_location where = std::source_location::current()) const {
    return __shfl_sync(mask(), value, source, static_cast<int>(kSize), where);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, std::source_location where = std::source_location::current()) const {
    return __shfl_up_sync(mask(), value, delta, static_cast<int>(kSize), where);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, std::source_location where = std::source_location::current()) const {
    return __shfl_down_sync(mask(), value, delta, static_cast<int>(kSize), where);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask,
             std::source_location where = std::source_location::current()) const {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), static_cast<int>(kSize), where);
  }
  // Bit i is the tile's thread i.
  unsigned ballot(int predicate, std::source_location where = std::source_location::current()) const {
    return __ballot_sync(mask(), predicate, where) >> first_lane();
  }
  int any(int predicate, std::source_location where = std::source_location::current()) const {
    return __any_sync(mask(), predicate, where);
  }
  int all(int predicate, std::source_location where = std::source_location::current()) const {
    return __all_sync(mask(), predicate, where);
  }
  template <class T>
  unsigned match_any(T value, std::source_location where = std::source_location::current()) const {
    return __match_any_sync(mask(), value, where) >> first_lane();
  }

 private:
  [[nodiscard]] unsigned first_lane() const { return detail::current_thread->lane / kSize * kSize; }
  [[nodiscard]] unsigned mask() const { return (0xffffffffu >> (32 - kSize)) << first_lane(); }
};
template <unsigned kSize>
thread_block_tile<kSize> tiled_partition(const thread_block&) {
  return {};
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};

// Every thread of the tile gets the result, combined in a fixed butterfly.
template <unsigned kSize, class T, class Combine>
T reduce(const thread_block_tile<kSize>& tile, T value, Combine combine,
         std::source_location where = std::source_location::current()) {
  for (unsigned offset = kSize / 2; offset > 0; offset /= 2) {
    value = combine(value, tile.shfl_xor(value, offset, where));
  }
  return value;
}

}  // namespace rooftile::simt::cooperative_groups
