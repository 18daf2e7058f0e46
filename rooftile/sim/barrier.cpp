// Barriers of a block and of the grid, polling, and the calls by which kernels enter the executor.
#include <cstring>
#include <string>

#include "rooftile/sim/proxy_fence.h"
#include "rooftile/sim/schedule.h"

namespace rooftile::simt::detail {

void BlockRunner::poll(const char* operation, std::source_location where) {
  ThreadRecord& self = *current_thread;
  warps_[self.warp].polling |= 1u << self.lane;
  ++polling_;
  polled_ = true;
  self.waits_at = operation;
  self.where = where;
  switch_away(self);
}

void BlockRunner::hold_thread() { switch_away(*current_thread); }

namespace {

bool same_line(std::source_location a, std::source_location b) {
  return a.line() == b.line() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

}  // namespace

inline int BlockRunner::barrier(BarrierOp op, bool predicate, std::source_location where) {
  ThreadRecord& self = *current_thread;
  if (barrier_arrived_ == 0) {
    barrier_op_ = op;
    barrier_where_ = where;
  } else if (!same_line(where, barrier_where_) || op != barrier_op_) [[unlikely]] {
    fail_divergent_barrier(where);
  }
  barrier_true_ += predicate ? 1u : 0u;
  ++barrier_arrived_;
  warps_[self.warp].at_barrier |= 1u << self.lane;
  if (barrier_arrived_ == live_) {
    release_barrier();
    if (++barriers_ % kBarriersBetweenLooks == 0) [[unlikely]]
      end_late_launch();
  }
  switch_away(self);
  return barrier_result_;
}

// A loop with work between its barriers makes progress for ever: it ends where another block has failed, or by the clock.
void BlockRunner::end_late_launch() {
  if (grid_->failed()) {
    abandoned_ = true;
    abandon_thread();
  }
  const auto limit = grid_->config.time_limit;
  if (limit.count() == 0 || std::chrono::steady_clock::now() - grid_->started < limit) return;
  report_failure("livelock: after " + std::to_string(limit.count()) +
                 " ms, the time limit, the block still passes " + describe(barrier_where_));
  abandon_thread();
}

void BlockRunner::fail_divergent_barrier(std::source_location where) {
  report_failure("divergent barrier: waits at " + describe(where) + ", while " +
                 std::to_string(barrier_arrived_) + " threads of the block wait at " +
                 describe(barrier_where_) + ": all threads of a block must reach the same __syncthreads()");
  abandon_thread();
}

void BlockRunner::release_barrier() {
  switch (barrier_op_) {
    case BarrierOp::plain:
      break;
    case BarrierOp::count:
      barrier_result_ = static_cast<int>(barrier_true_);
      break;
    case BarrierOp::all:
      barrier_result_ = barrier_true_ == barrier_arrived_ ? 1 : 0;
      break;
    case BarrierOp::any:
      barrier_result_ = barrier_true_ > 0 ? 1 : 0;
      break;
  }
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->barrier_passed(barrier_where_);
  barrier_arrived_ = 0;
  barrier_true_ = 0;
  for (unsigned w = 0; w < warp_count_; ++w) {
    make_ready(w, warps_[w].at_barrier);
    warps_[w].at_barrier = 0;
  }
  current_warp_ = choose(ready_warps_);
  if (!polled_) note_progress();  // a loop of polls and barriers is no progress
  polled_ = false;
}

void BlockRunner::grid_barrier(std::source_location where) {
  ThreadRecord& self = *current_thread;
  if (!block_.cooperative) {
    report_failure("grid.sync() at " + describe(where) +
                   " needs a cooperative launch (LaunchConfig::cooperative)");
    abandon_thread();
  }
  grid_sync_where_ = where;
  warps_[self.warp].at_grid_sync |= 1u << self.lane;
  ++at_grid_sync_;
  self.waits_at = "grid.sync()";
  self.where = where;
  switch_away(self);
}

BlockWatcher* block_watcher() { return current_runner != nullptr ? current_runner->watcher() : nullptr; }

bool is_disabled(std::source_location where) {
  BlockWatcher* watcher = block_watcher();
  return watcher != nullptr && watcher->is_disabled(where);
}

void note_copy(const CopyIssue& copy, CopyRange reads, CopyRange writes) {
  BlockWatcher* watcher = block_watcher();
  if (watcher != nullptr) watcher->copy_issued(copy, {&reads, 1}, {&writes, 1});
}

void proxy_fence(bool shared, bool global, std::source_location where) {
  BlockWatcher* watcher = block_watcher();
  if (watcher != nullptr && !watcher->is_disabled(where)) watcher->proxy_fenced(shared, global, where);
}

// What kernels call (thread.h).

int block_barrier(BarrierOp op, bool predicate, std::source_location where) {
  BlockWatcher* watcher = current_runner->watcher();
  if (watcher != nullptr && watcher->is_disabled(where)) return predicate ? 1 : 0;
  return current_runner->barrier(op, predicate, where);
}
void grid_barrier(std::source_location where) { current_runner->grid_barrier(where); }
void poll(const char* operation, std::source_location where) { current_runner->poll(operation, where); }

void report_failure(const std::string& what) { current_runner->report_failure(what); }
void report_failure(const std::string& what, std::source_location where) {
  current_runner->report_failure(what + " at " + describe(where));
}
void abandon_thread() { current_runner->abandon_thread(); }

}  // namespace rooftile::simt::detail
