// Asynchronous copies, and what is waited for: they access memory as
// agents of their own, from their issue to the wait that covers them.
#include "rooftile/sim/checked/checker.h"

namespace rooftile::simt::checked {

using detail::CopyGroups;
using detail::CopyIssue;
using detail::CopyRange;
using detail::current_thread;

namespace {

std::uintptr_t as_number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

void Checker::copy_issued(const CopyIssue& copy, std::span<const CopyRange> reads,
                          std::span<const CopyRange> writes) {
  if (checks_) {
    if (copy.mbarrier != nullptr) touch_mbarrier(copy.mbarrier, AccessKind::atomic, true, copy.where);
    Touch read{AccessKind::load, false, true, keep_place(copy.where), 0, 0, copy.name, copy.async_proxy};
    Touch write = read;
    write.kind = copy.updates ? AccessKind::atomic : AccessKind::store;
    write.atomic = copy.updates;
    {
      const auto lock = lock_for_event();
      AsyncAgents& agents = cluster_->agents;
      const unsigned thread = thread_id();
      if (copy.mbarrier != nullptr) {
        read.id = agents.issue(copy.mbarrier, thread, grid_clocks_.knowledge(current_thread->linear));
        write.id = read.id;
      } else {
        read.id = agents.issue(copy.async_proxy ? CopyGroups::bulk_read : CopyGroups::cp_async, thread);
        write.id = agents.issue(copy.async_proxy ? CopyGroups::bulk_written : CopyGroups::cp_async, thread);
      }
      read.stamp = write.stamp = cluster_->clocks.now();
    }
    for (const CopyRange& range : reads) touch_range(range, read);
    for (const CopyRange& range : writes) touch_range(range, write);
  }
  if (!metrics_) return;
  if (copy.pc != nullptr) {
    for (const CopyRange& range : reads) hold_copy(copy, range);
    for (const CopyRange& range : writes) hold_copy(copy, range);
  } else {
    count_copy(copy, reads);
    count_copy(copy, writes);
  }
}

void Checker::touch_range(const CopyRange& range, const Touch& touch) {
  if (range.bytes == 0) return;
  const std::uintptr_t address = as_number(range.address);
  SharedPlace place{};
  if (locate_shared(address, place)) return check_shared(place, range.bytes, touch);
  if (session_.buffers.empty()) return;
  KnownBuffer* buffer = session_.buffers.find(address, range.bytes);
  if (buffer == nullptr) {
    // The first byte outside.
    KnownBuffer* start = session_.buffers.find(address, 1);
    return fail_out_of_bounds(touch, start != nullptr ? start->end() : address);
  }
  check_global(*buffer, address, range.bytes, touch);
}

// cp.async: an instruction of all lanes, so that they are counted together.
void Checker::hold_copy(const CopyIssue& copy, const CopyRange& range) {
  if (range.bytes == 0) return;
  const std::uintptr_t address = as_number(range.address);
  SharedPlace place{};
  const bool shared = locate_shared(address, place);
  hold_at({address, static_cast<unsigned>(range.bytes), AccessKind::async_copy, false, copy.pc, copy.frame,
           false},
          shared ? MemorySpace::shared : MemorySpace::global, shared ? place.offset : address);
}

// One request of one thread: the sectors that hold its bytes, and full passes of the banks.
void Checker::count_copy(const CopyIssue& copy, std::span<const CopyRange> ranges) {
  constexpr std::uint64_t kWavefrontBytes = 128;
  AccessCounts global;
  AccessCounts shared;
  std::uint64_t bytes = 0;
  std::uintptr_t last_sector = 0;
  std::uintptr_t last_line = 0;
  for (const CopyRange& range : ranges) {
    if (range.bytes == 0) continue;
    const std::uintptr_t first = as_number(range.address);
    const std::uintptr_t last = first + range.bytes - 1;
    SharedPlace place{};
    if (locate_shared(first, place)) {
      shared.requests = 1;
      shared.wavefronts += (range.bytes + kWavefrontBytes - 1) / kWavefrontBytes;
      continue;
    }
    if (!copy.is_first) continue;
    global.requests = 1;
    bytes += range.bytes;
    // Neighbouring ranges may share their sector.
    global.sectors +=
        last / kSectorBytes - first / kSectorBytes + (first / kSectorBytes == last_sector ? 0 : 1);
    global.lines += last / kLineBytes - first / kLineBytes + (first / kLineBytes == last_line ? 0 : 1);
    last_sector = last / kSectorBytes;
    last_line = last / kLineBytes;
  }
  global.ideal_sectors = (bytes + kSectorBytes - 1) / kSectorBytes;
  shared.ideal_wavefronts = shared.wavefronts;
  shared.worst_conflict = shared.requests > 0 ? 1 : 0;
  const Place where = place_of(copy.where);
  if (global.requests > 0) copies_[{where, MemorySpace::global}].add(global);
  if (shared.requests > 0) copies_[{where, MemorySpace::shared}].add(shared);
}

void Checker::copy_landed(const void* target, std::size_t bytes) {
  if (!checks_) return;
  const std::uintptr_t address = as_number(target);
  SharedPlace place{};
  if (locate_shared(address, place)) {
    const auto lock = lock_for_event();
    place.owner->shadow_.set_written(place.offset, bytes);
  } else if (KnownBuffer* buffer = session_.buffers.find(address, bytes); buffer != nullptr) {
    buffer->set_written(address, bytes);
  }
}

void Checker::copies_committed(CopyGroups groups) {
  const auto lock = lock_for_event();
  cluster_->agents.commit(groups, thread_id());
}

void Checker::copies_waited(CopyGroups groups, std::uint64_t pending, std::source_location where) {
  const auto lock = lock_for_event();
  cluster_->agents.wait(groups, thread_id(), pending);
  // A wait for written groups comes as two, of which the first has been counted.
  if (groups == CopyGroups::bulk_written) return;
  count_sync(place_of(where), groups == CopyGroups::cp_async ? "cp.async wait" : "bulk wait", 1);
}

void Checker::all_copies_waited(std::source_location where) {
  const auto lock = lock_for_event();
  cluster_->agents.wait_all(CopyGroups::cp_async, thread_id());
  count_sync(place_of(where), "cp.async wait", 1);
}

void Checker::proxy_fenced(bool shared, bool global, std::source_location where) {
  const auto lock = lock_for_event();
  const Stamp time = cluster_->clocks.mark_time(thread_id());
  if (shared) cluster_->shared_fences.add({block_, thread_id()}, time);
  if (global) session_.global_fences.add({block_, thread_id()}, time);
  count_sync(place_of(where), "proxy fence", 1);
}

// An mbarrier's own place in memory: it is initialised before who uses it knows.
void Checker::touch_mbarrier(const std::uint64_t* mbarrier, AccessKind kind, bool atomic,
                             std::source_location where) {
  SharedPlace place{};
  if (!checks_ || !locate_shared(as_number(mbarrier), place)) return;
  check_shared(place, sizeof(*mbarrier),
               {.kind = kind,
                .atomic = atomic,
                .placed = true,
                .pc = keep_place(where),
                .id = thread_id(),
                .stamp = 0,
                .initialises = kind == AccessKind::store});
}

void Checker::mbarrier_initialised(const std::uint64_t* mbarrier, std::source_location where) {
  touch_mbarrier(mbarrier, AccessKind::store, false, where);
  const auto lock = lock_for_event();
  cluster_->agents.initialise(mbarrier);
}

void Checker::mbarrier_used(const std::uint64_t* mbarrier, std::source_location where) {
  touch_mbarrier(mbarrier, AccessKind::atomic, true, where);
}

void Checker::mbarrier_passed(const std::uint64_t* mbarrier, std::source_location where) {
  touch_mbarrier(mbarrier, AccessKind::load, true, where);
  const auto lock = lock_for_event();
  grid_clocks_.learn(current_thread->linear, cluster_->agents.pass(mbarrier, thread_id()));
  count_sync(place_of(where), "mbarrier wait", 1);
}

void Checker::mbarrier_changes(const std::uint64_t* mbarrier, bool arrives) {
  mbarrier_lock_ = lock_for_event();
  if (!arrives) return;
  cluster_->agents.arrive(mbarrier, thread_id(), grid_clocks_.knowledge(current_thread->linear));
}

void Checker::mbarrier_changed(const std::uint64_t* mbarrier, bool phase_completed) {
  if (phase_completed) cluster_->agents.complete_phase(mbarrier);
  mbarrier_lock_ = {};
}

}  // namespace rooftile::simt::checked
