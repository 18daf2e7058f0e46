// wgmma: it reads shared memory as an agent of its warp, from its issue to the wait for its group, and holds registers
// as long.
#include <algorithm>

#include "rooftile/sim/checked/checker.h"

namespace rooftile::simt::checked {

using detail::CopyGroups;
using detail::current_thread;

namespace {

constexpr std::size_t kRowBytes = 16;
constexpr unsigned kRowsAtOnce = 8;

std::uintptr_t as_number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

void Checker::access_registers(std::uintptr_t address, unsigned bytes, AccessKind kind, const void* pc) {
  if (!checks_ || current_thread == nullptr || registers_.empty()) return;
  RegisterWatch& watch = registers_[current_thread->linear];
  watch.touch(address, bytes, pc);
  const bool writes = kind != AccessKind::load;
  const RegisterWatch::Taken* taken = watch.disturbed(address, bytes, writes);
  if (taken == nullptr) return;
  find(FindingKind::registers_in_use, place_of(pc), *taken->by, [&] {
    return block_name() + ", thread " + thread_name(current_thread->linear) +
           (writes ? " writes" : " reads") + (taken->is_sum ? " a sum" : " a fragment of a") +
           " of a wgmma that it has not waited for: wgmma_commit, then wgmma_wait";
  });
}

void Checker::wgmma_takes(const detail::WgmmaRegisters& registers, std::source_location where) {
  if (!checks_) return;
  if (registers_.empty()) registers_.resize(threads_);
  watches_registers_ = true;
  RegisterWatch& watch = registers_[current_thread->linear];
  const auto name = [&] { return block_name() + ", thread " + thread_name(current_thread->linear); };
  if (!watch.has_fenced()) {
    find(FindingKind::missing_wgmma_fence, place_of(where), {},
         [&] { return name() + " starts its first wgmma with no wgmma_fence before it"; });
  }
  const std::uint64_t group = runner_.wgmma().committed(current_thread->warp);
  const Place* by = keep_place(where);
  for (const bool is_sum : {true, false}) {
    const detail::CopyRange& range = is_sum ? registers.sums : registers.a;
    if (range.bytes == 0) continue;
    if (const void* pc = watch.touched_at(as_number(range.address), range.bytes); pc != nullptr) {
      find(FindingKind::missing_wgmma_fence, place_of(where), place_of(pc), [&] {
        return name() + " starts a wgmma with " + (is_sum ? "sums" : "a fragment of a") +
               " that it has touched with no wgmma_fence between";
      });
    }
    watch.take({as_number(range.address), range.bytes, group, is_sum, by});
  }
}

void Checker::wgmma_fenced() {
  if (!checks_) return;
  if (registers_.empty()) registers_.resize(threads_);
  watches_registers_ = true;
  registers_[current_thread->linear].fence();
}

void Checker::wgmma_issued(const detail::WgmmaIssue& issue) {
  if (metrics_) count_wgmma(issue);
  if (!checks_) return;
  Touch touch{AccessKind::load, false, true, keep_place(issue.where), 0, 0, "wgmma", true};
  {
    const auto lock = lock_for_event();
    touch.id = cluster_->agents.issue(CopyGroups::wgmma, warp_id());
    touch.stamp = cluster_->clocks.now();
  }
  std::vector<std::uintptr_t> rows;
  for (const void* row : issue.rows) rows.push_back(as_number(row));
  std::sort(rows.begin(), rows.end());
  // Rows side by side are one run.
  for (std::size_t first = 0, next = 0; first < rows.size(); first = next) {
    next = first + 1;
    while (next < rows.size() && rows[next] <= rows[next - 1] + kRowBytes) ++next;
    touch_range({reinterpret_cast<const void*>(rows[first]), rows[next - 1] + kRowBytes - rows[first]},
                touch);
  }
}

// A request of a warpgroup: cores of eight rows, one after the other; all four warps share what is read of b.
void Checker::count_wgmma(const detail::WgmmaIssue& issue) {
  if (issue.counted.empty()) return;
  AccessCounts counts;
  counts.requests = 1;
  for (std::size_t first = 0; first < issue.counted.size(); first += kRowsAtOnce) {
    WarpRequest request{.lanes = (1u << kRowsAtOnce) - 1, .bytes = kRowBytes, .matrix_rows = true};
    for (unsigned i = 0; i < kRowsAtOnce; ++i) {
      SharedPlace place{};
      if (locate_shared(as_number(issue.counted[first + i]), place)) request.address[i] = place.offset;
    }
    const SharedCost cost = shared_cost(request);
    counts.wavefronts += cost.wavefronts;
    counts.ideal_wavefronts += cost.ideal_wavefronts;
    counts.worst_conflict = std::max(counts.worst_conflict, cost.wavefronts);
  }
  copies_[{place_of(issue.where), MemorySpace::shared}].add(counts);
}

void Checker::wgmma_committed() {
  const auto lock = lock_for_event();
  cluster_->agents.commit(CopyGroups::wgmma, warp_id());
}

void Checker::wgmma_waited(std::uint64_t groups) {
  if (!registers_.empty()) registers_[current_thread->linear].give_back(groups);
  if (groups == 0) return;
  const auto lock = lock_for_event();
  constexpr unsigned kGroupThreads = 4 * kLanesOfWarp;
  const unsigned first = first_thread_ + current_thread->linear / kGroupThreads * kGroupThreads;
  for (unsigned warp = first; warp < first + kGroupThreads; warp += kLanesOfWarp) {
    cluster_->agents.wait_for(CopyGroups::wgmma, warp, groups, thread_id());
  }
}

}  // namespace rooftile::simt::checked
