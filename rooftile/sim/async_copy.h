// Asynchronous copies of single threads (cp.async): done at the thread's wait, the latest moment that is
// legal. Copies that are never waited for are never done.
#pragma once

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
void commit_async_copies();
void wait_async_copies(int pending_groups, std::source_location where);
void wait_all_async_copies(std::source_location where);

// A new block of the OS thread starts: what the last one left is dropped.
void drop_async_copies();

}  // namespace rooftile::simt::detail
