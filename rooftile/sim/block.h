// Runs one block at a time on the calling OS thread: the
// scheduler of its threads, its barriers and collectives.
//
// Threads are scheduled without preemption, warp by warp and lane by lane in the configured order; after a
// barrier or a warp collective they start again with the first of that order. A thread that cannot go on
// switches to the next one directly; the OS thread's own stack is returned to only when nobody can run.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

#include "rooftile/core/status.h"
#include "rooftile/sim/async_queue.h"
#include "rooftile/sim/cluster.h"
#include "rooftile/sim/config.h"
#include "rooftile/sim/fiber.h"
#include "rooftile/sim/grid.h"
#include "rooftile/sim/setmaxnreg.h"
#include "rooftile/sim/thread.h"
#include "rooftile/sim/watcher.h"
#include "rooftile/sim/wgmma.h"

namespace rooftile::simt::detail {

inline constexpr unsigned kWarpLanes = 32;
inline constexpr unsigned kMaxWarps = kMaxBlockThreads / kWarpLanes;

// A warp collective that some lanes of its mask have reached.
struct PendingCollective {
  std::uint32_t mask = 0;
  std::uint32_t arrived = 0;
  WarpOp op = WarpOp::sync;
  std::source_location where;
};

// Lanes as bits.
struct WarpState {
  std::uint32_t live = 0;   // not exited
  std::uint32_t ready = 0;  // may run
  std::uint32_t polling = 0;
  std::uint32_t at_barrier = 0;
  std::uint32_t at_grid_sync = 0;
  std::uint32_t at_activemask = 0;
  unsigned pending_count = 0;
  std::array<PendingCollective, kWarpLanes> pending;  // every lane waits in at most one
  std::array<std::uint64_t, kWarpLanes> operand;
  std::array<std::uint64_t, kWarpLanes> result;
  std::array<std::uint8_t, kWarpLanes> source_lane;
};

class BlockRunner {
 public:
  BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // Memory for blocks of so many threads.
  [[nodiscard]] Status reserve(unsigned block_threads) { return fibers_.reserve(block_threads); }
  [[nodiscard]] const std::atomic<std::uint64_t>& progress() const { return block_.progress; }

  // The next run_blocks() runs the block `rank` of every cluster.
  void join(ClusterRun& cluster, unsigned rank);
  // Binds the runner to the calling OS thread and runs blocks of the grid until none is left: all that
  // grid.next_block() gives, its block of each cluster, or the one block of a cooperative grid.
  void run_blocks(GridRun& grid);
  void run_cooperative_block(GridRun& grid, std::uint64_t block);

  // The operations of the current thread (thread.h).
  int barrier(BarrierOp op, bool predicate, std::source_location where);
  std::uint64_t collective(WarpOp op, unsigned mask, std::uint64_t operand, unsigned source_lane,
                           std::source_location where);
  std::uint32_t active_lanes(std::source_location where);
  void grid_barrier(std::source_location where);
  void poll(const char* operation, std::source_location where);
  void cluster_arrive(bool relaxed, std::source_location where);
  void cluster_wait(std::source_location where);
  void* map_shared(const void* address, unsigned rank, std::source_location where);
  [[nodiscard]] ClusterRun& cluster() { return *cluster_; }
  [[nodiscard]] AsyncQueue& async() { return async_; }
  [[nodiscard]] WgmmaQueue& wgmma() { return wgmma_; }
  [[nodiscard]] RegisterCounts& register_counts() { return register_counts_; }
  void report_failure(const std::string& what);
  [[noreturn]] void abandon_thread();

  // For the watcher: the current thread waits until release_held() names its lane.
  void hold_thread();
  [[nodiscard]] BlockWatcher* watcher() const { return watcher_; }
  [[nodiscard]] const BlockRecord& block_record() const { return block_; }

 private:
  static void fiber_main(boost::context::detail::transfer_t transfer);

  void bind(GridRun& grid);
  void unbind();
  void run_clusters(GridRun& grid);
  void run_block(std::uint64_t block);
  void start_block(std::uint64_t block);

  // Scheduling.
  // For the SpinGuard: another thread runs.
  void beat() { heartbeat_.store(heartbeat_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  ThreadRecord* pick();
  unsigned choose(std::uint32_t candidates);
  void make_ready(unsigned warp, std::uint32_t lanes);
  void let_waiting_go_on(unsigned warp);
  void release_active(WarpState& warp, unsigned warp_index);
  Context& activate(ThreadRecord& thread);
  void switch_away(ThreadRecord& self);  // returns when `self` runs again
  void exit_thread(Fiber& fiber);
  [[nodiscard]] bool settle();  // nobody is ready: true when somebody is again
  void resume_pollers();
  [[nodiscard]] bool run_async();  // one asynchronous operation; false when it was wrong
  [[nodiscard]] bool livelocked();
  void set_polling(bool polling);
  void fail(const std::string& what, StatusCode code = StatusCode::device_error);
  [[nodiscard]] std::string describe_waiting() const;

  [[noreturn]] void fail_divergent_barrier(std::source_location where);
  void end_late_launch();
  [[noreturn]] void fail_foreign_mask(WarpOp op, unsigned mask, std::source_location where);
  [[noreturn]] void fail_mixed_collectives(WarpOp op, const PendingCollective& pending,
                                           std::source_location where);

  void release_barrier();
  void arrive_at_cluster();  // when all live threads have
  [[noreturn]] void fail_left_cluster_barrier();
  void complete_if_all_arrived(WarpState& warp, unsigned warp_index);

  GridRun* grid_ = nullptr;
  BlockWatcher* watcher_ = nullptr;
  BlockRecord block_;
  FiberPool fibers_;
  Context scheduler_;
  std::array<ThreadRecord, kMaxBlockThreads> threads_;
  std::array<WarpState, kMaxWarps> warps_;
  unsigned thread_count_ = 0;
  unsigned warp_count_ = 0;
  std::uint64_t linear_block_ = 0;
  bool abandoned_ = false;  // this block has failed, or the launch has

  LaneOrder order_ = LaneOrder::forward;
  std::uint64_t random_ = 0;
  std::uint32_t ready_warps_ = 0;
  unsigned current_warp_ = 0;
  unsigned live_ = 0;
  unsigned polling_ = 0;
  unsigned at_grid_sync_ = 0;

  unsigned barrier_arrived_ = 0;
  unsigned barrier_true_ = 0;  // threads whose predicate held
  BarrierOp barrier_op_ = BarrierOp::plain;
  std::source_location barrier_where_;
  int barrier_result_ = 0;
  std::source_location grid_sync_where_;

  AsyncQueue async_;
  WgmmaQueue wgmma_;
  RegisterCounts register_counts_;
  ClusterRun alone_;  // of a launch without clusters
  ClusterRun* cluster_ = &alone_;
  unsigned cluster_arrived_ = 0;  // live threads, at the phase after cluster_phase_
  std::uint32_t cluster_phase_ = 0;
  std::source_location cluster_arrive_where_;

  std::atomic<std::uint64_t> heartbeat_{0};
  // The watchdog's view.
  bool polled_ = false;  // since the last barrier
  static constexpr std::uint64_t kBarriersBetweenLooks = 256;
  std::uint64_t barriers_ = 0;
  bool counted_as_polling_ = false;
  std::uint64_t seen_progress_ = 0;
  std::chrono::steady_clock::time_point seen_at_;
};

// The runner whose block the calling OS thread runs.
extern constinit thread_local BlockRunner* current_runner;

}  // namespace rooftile::simt::detail
