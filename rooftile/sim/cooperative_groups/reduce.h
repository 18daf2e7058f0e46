// Reductions and scans of groups within a warp.
#pragma once

#include <source_location>

#include "rooftile/sim/cooperative_groups/lanes.h"

namespace rooftile::simt::cooperative_groups {

template <class T>
struct plus {
  T operator()(T a, T b) const { return static_cast<T>(a + b); }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

// Every thread of the tile gets the result, combined in a fixed butterfly.
template <unsigned kSize, class Parent, class T, class Combine>
T reduce(const thread_block_tile<kSize, Parent>& tile, T value, Combine combine,
         std::source_location where = std::source_location::current()) {
  for (unsigned offset = kSize / 2; offset > 0; offset /= 2) {
    value = combine(value, tile.shfl_xor(value, offset, where));
  }
  return value;
}
// Of any number of threads: by a tree, whose result the first one hands out.
template <class T, class Combine>
T reduce(const coalesced_group& group, T value, Combine combine,
         std::source_location where = std::source_location::current()) {
  const unsigned after = group.size() - group.thread_rank();
  for (unsigned offset = 1; offset < group.size(); offset *= 2) {
    const T other = group.shfl_down(value, offset, where);
    if (offset < after) value = combine(value, other);
  }
  return group.shfl(value, 0, where);
}

// The thread's own value is the last that its result holds.
template <class Self, class T, class Combine>
T inclusive_scan(const detail_cg::LaneGroup<Self>& group, T value, Combine combine,
                 std::source_location where = std::source_location::current()) {
  const Self& self = static_cast<const Self&>(group);
  const unsigned rank = self.thread_rank();
  for (unsigned offset = 1; offset < self.size(); offset *= 2) {
    const T other = group.shfl_up(value, offset, where);
    if (offset <= rank) value = combine(other, value);
  }
  return value;
}
template <class Self, class T>
T inclusive_scan(const detail_cg::LaneGroup<Self>& group, T value,
                 std::source_location where = std::source_location::current()) {
  return inclusive_scan(group, value, plus<T>{}, where);
}

// The first thread gets T{}, whatever is combined.
template <class Self, class T, class Combine>
T exclusive_scan(const detail_cg::LaneGroup<Self>& group, T value, Combine combine,
                 std::source_location where = std::source_location::current()) {
  const T before = group.shfl_up(inclusive_scan(group, value, combine, where), 1, where);
  return static_cast<const Self&>(group).thread_rank() == 0 ? T{} : before;
}
template <class Self, class T>
T exclusive_scan(const detail_cg::LaneGroup<Self>& group, T value,
                 std::source_location where = std::source_location::current()) {
  return exclusive_scan(group, value, plus<T>{}, where);
}

}  // namespace rooftile::simt::cooperative_groups
