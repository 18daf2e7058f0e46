#include "rooftile/sim/async_copy.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "rooftile/sim/bulk_copy.h"
#include "rooftile/sim/config.h"
#include "rooftile/sim/fiber.h"
#include "rooftile/sim/mbarrier.h"
#include "rooftile/sim/shared_memory.h"
#include "rooftile/sim/thread.h"
#include "rooftile/sim/watcher.h"

namespace rooftile::simt::detail {
namespace {

struct GroupedCopy {
  AsyncCopy copy;
  std::uint64_t group;
};

struct ThreadCopies {
  std::vector<GroupedCopy> pending;  // oldest first
  std::uint64_t committed = 0;       // groups; what is issued now will belong to this one
};

// By the thread's index in its block: an OS thread runs one block at a time.
thread_local std::vector<ThreadCopies> block_copies;
thread_local bool block_has_copies = false;

ThreadCopies& own() {
  block_has_copies = true;
  if (block_copies.empty()) block_copies.resize(kMaxBlockThreads);
  return block_copies[current_thread->linear];
}

void run_older_than(ThreadCopies& copies, std::uint64_t group) {
  auto next = copies.pending.begin();
  for (; next != copies.pending.end() && next->group < group; ++next) {
    const AsyncCopy& copy = next->copy;
    const auto used = static_cast<std::size_t>(copy.source_bytes);
    std::memcpy(copy.target, copy.source, used);
    std::memset(static_cast<char*>(copy.target) + used, 0, static_cast<std::size_t>(copy.bytes) - used);
    if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) {
      watcher->copy_landed(copy.target, static_cast<std::size_t>(copy.bytes));
    }
  }
  copies.pending.erase(copies.pending.begin(), next);
}

void add_to_group(const AsyncCopy& copy) {
  ThreadCopies& copies = own();
  copies.pending.push_back({copy, copies.committed});
}

constexpr const char* kName = "cp.async";

void note(const AsyncCopy& copy, const std::uint64_t* mbarrier, const void* pc, const void* frame,
          std::source_location where) {
  const CopyIssue issue{
      .name = kName, .where = where, .mbarrier = mbarrier, .async_proxy = false, .pc = pc, .frame = frame};
  note_copy(issue, {copy.source, static_cast<std::size_t>(copy.source_bytes)},
            {copy.target, static_cast<std::size_t>(copy.bytes)});
}

void check_source_bytes(const AsyncCopy& copy, std::source_location where) {
  if (copy.source_bytes >= 0 && copy.source_bytes <= copy.bytes) return;
  report_failure("cp.async of " + std::to_string(copy.bytes) + " bytes is told to read " +
                     std::to_string(copy.source_bytes) + " of them",
                 where);
  abandon_thread();
}

}  // namespace

bool is_async_copy(const void* target, const void* source, std::size_t bytes) {
  const Context& stack = current_thread->fiber->context;
  const auto depth =
      reinterpret_cast<std::uintptr_t>(source) - reinterpret_cast<std::uintptr_t>(stack.stack_bottom);
  return in_shared_memory(target, bytes) && !in_shared_memory(source, bytes) && depth >= stack.stack_bytes;
}

void issue_async_copy(const AsyncCopy& copy, std::source_location where) {
  check_source_bytes(copy, where);
  note(copy, nullptr, __builtin_return_address(0), __builtin_dwarf_cfa(), where);
  add_to_group(copy);
}

void issue_async_copy(const AsyncCopy& copy, std::uint64_t* mbarrier, std::source_location where) {
  const void* pc = __builtin_return_address(0);
  const void* frame = __builtin_dwarf_cfa();
  if (mbarrier == nullptr) {
    note(copy, nullptr, pc, frame, where);
    return add_to_group(copy);
  }
  const auto bytes = static_cast<std::uint32_t>(copy.bytes);
  mbarrier_arrive(mbarrier, 0, bytes, where);
  note(copy, mbarrier, pc, frame, where);
  issue_copy({[copy, bytes, mbarrier] {
                move_bytes(copy.target, copy.source, bytes);
                return mbarrier_complete_tx(mbarrier, bytes);
              },
              kName, where, true});
}

void commit_async_copies() {
  ++own().committed;
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) {
    watcher->copies_committed(CopyGroups::cp_async);
  }
}

void wait_async_copies(int pending_groups, std::source_location where) {
  if (is_disabled(where)) return;
  ThreadCopies& copies = own();
  const auto kept = static_cast<std::uint64_t>(pending_groups);
  if (copies.committed > kept) run_older_than(copies, copies.committed - kept);
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) {
    watcher->copies_waited(CopyGroups::cp_async, kept, where);
  }
}

void wait_all_async_copies(std::source_location where) {
  if (is_disabled(where)) return;
  ThreadCopies& copies = own();
  run_older_than(copies, copies.committed + 1);
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->all_copies_waited(where);
}

void drop_async_copies() {
  if (!block_has_copies) return;
  block_has_copies = false;
  for (ThreadCopies& copies : block_copies) {
    copies.pending.clear();
    copies.committed = 0;
  }
}

}  // namespace rooftile::simt::detail
