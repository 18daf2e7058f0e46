// Groups made of groups, and the free functions of all groups.
#pragma once

#include <bit>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "rooftile/sim/cooperative_groups/lanes.h"

namespace rooftile::simt::cooperative_groups {

template <class Group>
void sync(const Group& group, std::source_location where = std::source_location::current()) {
  group.sync(where);
}
template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
  return group.size();
}

template <unsigned kSize>
thread_block_tile<kSize, thread_block> tiled_partition(const thread_block&) {
  return {detail::current_thread->linear / kSize, (thread_block::size() + kSize - 1) / kSize};
}
template <unsigned kSize, unsigned kParentSize, class Parent>
auto tiled_partition(const thread_block_tile<kParentSize, Parent>&) {
  static_assert(kSize <= kParentSize, "a tile is a part of its parent");
  using Tile = thread_block_tile<kSize, thread_block_tile<kParentSize, Parent>>;
  return Tile{detail::current_thread->lane % kParentSize / kSize, kParentSize / kSize};
}

namespace detail_cg {

// Of the parent's threads in the order of their ranks, those of this thread's tile.
inline unsigned lanes_of_tile(unsigned parent_lanes, unsigned size, std::source_location where) {
  if (size < 1 || size > 32 || (size & (size - 1)) != 0) {
    detail::report_failure(
        "tiled_partition: a tile has 1, 2, 4, 8, 16 or 32 threads, not " + std::to_string(size), where);
    detail::abandon_thread();
  }
  const unsigned lane = detail::current_thread->lane;
  const auto tile = static_cast<unsigned>(std::popcount(parent_lanes & lanes_below(lane))) / size;
  unsigned lanes = 0;
  unsigned rank = 0;
  for (unsigned left = parent_lanes; left != 0; left &= left - 1, ++rank) {
    if (rank / size == tile) lanes |= left & (~left + 1);
  }
  return lanes;
}

}  // namespace detail_cg

inline thread_group tiled_partition(const thread_group& parent, unsigned size,
                                    std::source_location where = std::source_location::current()) {
  const unsigned lanes = parent.is_block() ? 0xffffffffu : parent.lanes();
  return coalesced_group(detail_cg::lanes_of_tile(lanes, size, where));
}
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size,
                                       std::source_location where = std::source_location::current()) {
  return coalesced_group(detail_cg::lanes_of_tile(parent.lanes(), size, where), parent.thread_rank() / size,
                         (parent.size() + size - 1) / size);
}

// The lanes that are here together.
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// Threads of one label; the group's threads all call it.
template <class Self, class Label>
coalesced_group labeled_partition(const detail_cg::LaneGroup<Self>& group, Label label,
                                  std::source_location where = std::source_location::current()) {
  static_assert(std::is_integral_v<Label> || std::is_pointer_v<Label>, "labels are integers or pointers");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &label, sizeof(label));
  const unsigned parent = static_cast<const Self&>(group).lanes();
  const unsigned lanes = __match_any_sync(parent, bits, where);
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const unsigned leaders = __ballot_sync(parent, detail::current_thread->lane == first ? 1 : 0, where);
  return coalesced_group(lanes, static_cast<unsigned>(std::popcount(leaders & detail_cg::lanes_below(first))),
                         static_cast<unsigned>(std::popcount(leaders)));
}

// Group 1 are those for whom it holds; where all agree there is one group.
template <class Self>
coalesced_group binary_partition(const detail_cg::LaneGroup<Self>& group, bool predicate,
                                 std::source_location where = std::source_location::current()) {
  const unsigned parent = static_cast<const Self&>(group).lanes();
  const unsigned holds = __ballot_sync(parent, predicate ? 1 : 0, where);
  const unsigned lanes = predicate ? holds : parent & ~holds;
  if (lanes == parent) return coalesced_group(lanes);
  return coalesced_group(lanes, predicate ? 1 : 0, 2);
}

// One thread of the group, which is the first one here.
template <class Self, class Function, class... Args>
void invoke_one(const detail_cg::LaneGroup<Self>& group, Function&& function, Args&&... args) {
  if (static_cast<const Self&>(group).thread_rank() == 0) {
    std::forward<Function>(function)(std::forward<Args>(args)...);
  }
}
template <class Self, class Function, class... Args>
auto invoke_one_broadcast(const detail_cg::LaneGroup<Self>& group, Function&& function, Args&&... args) {
  decltype(std::forward<Function>(function)(std::forward<Args>(args)...)) result{};
  if (static_cast<const Self&>(group).thread_rank() == 0) {
    result = std::forward<Function>(function)(std::forward<Args>(args)...);
  }
  return group.shfl(result, 0);
}

}  // namespace rooftile::simt::cooperative_groups
