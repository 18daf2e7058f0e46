// Copies by a group, by cp.async: each call is a group of each thread's copies, and a wait ends with the
// group's barrier. What cp.async cannot copy is copied at once.
#pragma once

#include <cstddef>
#include <source_location>

#include "rooftile/sim/cooperative_groups/lanes.h"
#include "rooftile/sim/group_copy.h"

namespace rooftile::simt::cooperative_groups {

// `bytes`: a number, or cuda::aligned_size_t.
template <class Group, class T, class Bytes>
__attribute__((always_inline)) inline void memcpy_async(
    const Group& group, T* target, const T* source, Bytes bytes,
    std::source_location where = std::source_location::current()) {
  detail::check_shape(target, source, bytes, where);
  detail::copy_share({target, source, static_cast<std::size_t>(bytes)}, detail::kWidestCopy,
                     group.thread_rank(), group.size(), true, nullptr, where);
  detail::commit_async_copies();
}
// As many elements as both have.
template <class Group, class T, class TargetCount, class SourceCount>
__attribute__((always_inline)) inline void memcpy_async(
    const Group& group, T* target, TargetCount target_count, const T* source, SourceCount source_count,
    std::source_location where = std::source_location::current()) {
  const auto of_target = static_cast<std::size_t>(target_count);
  const auto of_source = static_cast<std::size_t>(source_count);
  memcpy_async(group, target, source, (of_target < of_source ? of_target : of_source) * sizeof(T), where);
}

// All but the newest kPending copies have arrived, for all threads of the group.
template <unsigned kPending, class Group>
void wait_prior(const Group& group, std::source_location where = std::source_location::current()) {
  detail::wait_async_copies(static_cast<int>(kPending), where);
  group.sync(where);
}
template <class Group>
void wait(const Group& group, std::source_location where = std::source_location::current()) {
  wait_prior<0>(group, where);
}

}  // namespace rooftile::simt::cooperative_groups
