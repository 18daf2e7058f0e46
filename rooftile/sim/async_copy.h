// Asynchronous copies of single threads (cp.async): done at the thread's wait, the latest moment that is
// legal. Copies that are never waited for are never done.
//
// One that an mbarrier waits for is done when no thread of the block can run, as a bulk copy is: its bytes
// stand for the arrival that the hardware makes when the thread's copies have landed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

namespace rooftile::simt::detail {

struct AsyncCopy {
  void* target;
  const void* source;
  int bytes;
  int source_bytes;  // the rest is zeros
};

// Of the current thread.
void issue_async_copy(const AsyncCopy& copy, std::source_location where);
// `mbarrier`: whose phase waits for the copy; null: the thread's groups do.
void issue_async_copy(const AsyncCopy& copy, std::uint64_t* mbarrier, std::source_location where);
void commit_async_copies();
void wait_async_copies(int pending_groups, std::source_location where);
void wait_all_async_copies(std::source_location where);

// Whether cp.async can copy so: from global memory to the block's shared memory.
[[nodiscard]] bool is_async_copy(const void* target, const void* source, std::size_t bytes);

// A new block of the OS thread starts: what the last one left is dropped.
void drop_async_copies();

}  // namespace rooftile::simt::detail
