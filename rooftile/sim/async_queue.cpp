#include "rooftile/sim/async_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rooftile/sim/grid.h"

namespace rooftile::simt::detail {
namespace {

std::size_t choose(std::size_t count, LaneOrder order, std::uint64_t random) {
  switch (order) {
    case LaneOrder::forward:
      break;
    case LaneOrder::reversed:
      return count - 1;
    case LaneOrder::random:
      return static_cast<std::size_t>(random % count);
  }
  return 0;
}

void advance_to(AsyncQueue::Store& store, BulkStage stage) {
  if (!store.has_read) {
    store.read(store.staged);
    store.has_read = true;
  }
  if (stage == BulkStage::written) store.write(store.staged);
}

std::string named(const char* name, std::source_location where) {
  return std::string(name) + " at " + describe(where);
}

}  // namespace

void move_bytes(void* destination, const void* source, std::size_t bytes) {
  std::memcpy(destination, source, bytes);
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) watcher->copy_landed(destination, bytes);
}

std::uint64_t& AsyncQueue::committed(unsigned thread) {
  if (committed_.size() <= thread) committed_.resize(thread + 1, 0);
  return committed_[thread];
}

void AsyncQueue::add(Store store) {
  store.group = committed(store.thread);
  stores_.push_back(std::move(store));
}

void AsyncQueue::commit(unsigned thread) {
  ++committed(thread);
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) {
    watcher->copies_committed(CopyGroups::bulk_read);
    watcher->copies_committed(CopyGroups::bulk_written);
  }
}

void AsyncQueue::wait(unsigned thread, std::uint64_t pending, BulkStage stage, std::source_location where) {
  const std::uint64_t groups = committed(thread);
  const auto covered = [&](const Store& store) {
    return store.thread == thread && store.group + pending < groups;
  };
  for (Store& store : stores_) {
    if (covered(store)) advance_to(store, stage);
  }
  if (stage == BulkStage::written) std::erase_if(stores_, covered);
  if (BlockWatcher* watcher = block_watcher(); watcher != nullptr) {
    watcher->copies_waited(CopyGroups::bulk_read, pending, where);
    if (stage == BulkStage::written) watcher->copies_waited(CopyGroups::bulk_written, pending, where);
  }
}

std::string AsyncQueue::run_one(LaneOrder order, std::uint64_t random) {
  if (!copies_.empty()) {
    const auto chosen = copies_.begin() + static_cast<std::ptrdiff_t>(choose(copies_.size(), order, random));
    const Copy copy = std::move(*chosen);
    copies_.erase(chosen);
    std::string wrong = copy.run();
    return wrong.empty() ? wrong : named(copy.name, copy.where) + ": " + wrong;
  }
  const auto chosen = stores_.begin() + static_cast<std::ptrdiff_t>(choose(stores_.size(), order, random));
  advance_to(*chosen, BulkStage::written);
  stores_.erase(chosen);
  return {};
}

std::string AsyncQueue::finish() {
  std::string wrong;
  for (const Copy& copy : copies_) {
    if (!wrong.empty()) break;
    wrong = copy.own_shared
                ? "the block returned before a copy that it issued was complete: wait at its mbarrier"
                : copy.run();
    if (!wrong.empty()) wrong = named(copy.name, copy.where) + ": " + wrong;
  }
  for (Store& store : stores_) {
    if (!wrong.empty()) break;
    if (!store.has_read) {
      wrong = named(store.name, store.where) +
              ": the block returned while the copy may still read its shared memory: "
              "bulk_commit, then bulk_wait_read";
    } else {
      advance_to(store, BulkStage::written);
    }
  }
  clear();
  return wrong;
}

void AsyncQueue::clear() {
  copies_.clear();
  stores_.clear();
  committed_.clear();
}

}  // namespace rooftile::simt::detail
