#include "rooftile/sim/block.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <thread>
#include <tuple>

#include "rooftile/sim/async_copy.h"
#include "rooftile/sim/mbarrier.h"
#include "rooftile/sim/schedule.h"
#include "rooftile/sim/spin_guard.h"

// One array of one name, which every `extern __shared__` declaration is bound to (tools/compile_simulated).
extern "C" {
alignas(1024)  // what swizzled tiles ask for
    constinit thread_local std::byte rooftile_dynamic_shared_memory[rooftile::simt::kMaxDynamicSharedBytes]{};
}

namespace rooftile::simt::detail {

constinit thread_local ThreadRecord* current_thread = nullptr;
constinit thread_local BlockRecord* current_block = nullptr;
constinit thread_local BlockRunner* current_runner = nullptr;

namespace {

constexpr int kSpinPatience = 3;     // watchdogs, of a thread that lets no other run
constexpr int kSharedPoison = 0xff;  // a NaN in every float format, -1 as an integer

}  // namespace

BlockRunner::BlockRunner() {
  for (unsigned i = 0; i < kMaxBlockThreads; ++i) {
    threads_[i].linear = static_cast<std::uint16_t>(i);
    threads_[i].lane = static_cast<std::uint8_t>(i % kWarpLanes);
    threads_[i].warp = static_cast<std::uint8_t>(i / kWarpLanes);
  }
}

void BlockRunner::run_blocks(GridRun& grid) {
  bind(grid);
  if (cluster_ == &alone_) {
    for (std::uint64_t block = 0; grid.next_block(block);) run_block(block);
  } else {
    run_clusters(grid);
    join(alone_, 0);
  }
  unbind();
}

void BlockRunner::run_cooperative_block(GridRun& grid, std::uint64_t block) {
  bind(grid);
  run_block(block);
  unbind();
}

void BlockRunner::bind(GridRun& grid) {
  grid_ = &grid;
  order_ = grid.config.order;
  thread_count_ = grid.block_threads;
  warp_count_ = (thread_count_ + kWarpLanes - 1) / kWarpLanes;
  block_.block_dim = grid.shape.block;
  block_.grid_dim = grid.shape.grid;
  block_.cooperative = grid.shape.cooperative;
  block_.dynamic_shared = rooftile_dynamic_shared_memory;
  block_.dynamic_shared_bytes = grid.shape.dynamic_shared_bytes;
#if ROOFTILE_SIM_ASAN
  __asan_unpoison_memory_region(rooftile_dynamic_shared_memory, kMaxDynamicSharedBytes);
  __asan_poison_memory_region(rooftile_dynamic_shared_memory + block_.dynamic_shared_bytes,
                              kMaxDynamicSharedBytes - block_.dynamic_shared_bytes);
#endif
  uint3 index{0, 0, 0};
  for (unsigned i = 0; i < thread_count_; ++i) {
    threads_[i].index = index;
    if (++index.x == block_.block_dim.x) {
      index.x = 0;
      if (++index.y == block_.block_dim.y) {
        index.y = 0;
        ++index.z;
      }
    }
  }
  fibers_.reset(&BlockRunner::fiber_main);
  current_runner = this;
  current_block = &block_;
  counted_as_polling_ = false;
  SpinGuard::instance().enter(heartbeat_, kSpinPatience * grid.config.watchdog);
  grid.busy.fetch_add(1);
  watcher_ = grid.watcher != nullptr ? grid.watcher->enter(grid, *this) : nullptr;
}

void BlockRunner::unbind() {
#if ROOFTILE_SIM_ASAN
  __asan_unpoison_memory_region(rooftile_dynamic_shared_memory, kMaxDynamicSharedBytes);
#endif
  if (watcher_ != nullptr) grid_->watcher->leave(*watcher_);
  watcher_ = nullptr;
  set_polling(false);
  SpinGuard::instance().leave(heartbeat_);
  grid_->busy.fetch_sub(1);
  current_runner = nullptr;
  current_block = nullptr;
  current_thread = nullptr;
  grid_ = nullptr;
}

void BlockRunner::start_block(std::uint64_t block) {
  linear_block_ = block;
  block_.index = grid_->block_index(block);
  std::memset(block_.dynamic_shared, kSharedPoison, block_.dynamic_shared_bytes);
  drop_async_copies();
  for (unsigned i = 0; i < thread_count_; ++i) {
    threads_[i].polls = 0;
    threads_[i].fiber = nullptr;
    threads_[i].waits_on = nullptr;
    threads_[i].waits_pc = nullptr;
    threads_[i].cluster_arrived = false;
    threads_[i].mbarriers_fenced = false;
  }
  if (cluster_ == &alone_) alone_.start();
  cluster_arrived_ = 0;
  cluster_phase_ = 0;
  async_.clear();
  wgmma_.clear();
  register_counts_.clear();
  ready_warps_ = 0;
  for (unsigned w = 0; w < warp_count_; ++w) {
    WarpState& warp = warps_[w];
    const unsigned lanes = thread_count_ - w * kWarpLanes;
    warp.live = lanes >= kWarpLanes ? ~0u : (1u << lanes) - 1;
    warp.ready = 0;
    warp.polling = 0;
    warp.at_barrier = 0;
    warp.at_grid_sync = 0;
    warp.at_activemask = 0;
    warp.pending_count = 0;
    make_ready(w, warp.live);
  }
  live_ = thread_count_;
  polling_ = 0;
  at_grid_sync_ = 0;
  barrier_arrived_ = 0;
  barrier_true_ = 0;
  polled_ = false;
  abandoned_ = false;
  seen_at_ = std::chrono::steady_clock::now();
  seen_progress_ = grid_->total_progress();
  std::uint64_t state = grid_->config.seed ^ (block * 0xd1342543de82ef95u);
  random_ = next_random(state);
  current_warp_ = choose(ready_warps_);
  if (watcher_ != nullptr) watcher_->block_started(block);
}

void BlockRunner::run_block(std::uint64_t block) {
  start_block(block);
  do {
    while (ThreadRecord* next = pick()) {
      switch_context(scheduler_, activate(*next));
      if (abandoned_) break;
    }
  } while (!abandoned_ && settle());
  if (abandoned_) {
    fibers_.reset(&BlockRunner::fiber_main);  // some stop in the middle of the kernel
    return;
  }
  set_polling(false);
  note_progress();
  if (watcher_ != nullptr) watcher_->block_returned();
  for (const std::string& wrong : {async_.finish(), wgmma_.finish(), register_counts_.finish()}) {
    if (!wrong.empty()) return fail(": " + wrong);
  }
  grid_->block_finished(block);
}

void BlockRunner::fiber_main(boost::context::detail::transfer_t transfer) {
  BlockRunner& runner = *current_runner;
  Fiber& fiber = *current_thread->fiber;
  arrive(transfer, fiber.context.fake_stack);
  for (;;) {
    runner.grid_->kernel.run(runner.grid_->kernel.bound);
    runner.exit_thread(fiber);
  }
}

void BlockRunner::exit_thread(Fiber& fiber) {
  beat();
  ThreadRecord& self = *current_thread;
  if (self.cluster_arrived) [[unlikely]]
    fail_left_cluster_barrier();
  WarpState& warp = warps_[self.warp];
  self.fiber = nullptr;
  warp.live &= ~(1u << self.lane);
  --live_;
  note_progress();
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->thread_exited(self);
  if (warp.pending_count > 0) complete_if_all_arrived(warp, self.warp);
  if (barrier_arrived_ > 0 && barrier_arrived_ == live_) release_barrier();
  if (cluster_arrived_ > 0) arrive_at_cluster();
  if (watcher_ != nullptr || warp.at_activemask != 0) [[unlikely]]
    let_waiting_go_on(self.warp);

  ThreadRecord* next = pick();
  if (next != nullptr && next->fiber == nullptr) {
    // A thread that has not started yet runs on this stack, without a switch.
    next->fiber = &fiber;
    current_thread = next;
    return;
  }
  fibers_.give_back(fiber);
  switch_context(fiber.context, next != nullptr ? activate(*next) : scheduler_);
}

bool BlockRunner::settle() {
  if (live_ == 0) return false;
  if (grid_->failed()) {
    abandoned_ = true;
    return false;
  }
  if (!async_.empty()) return run_async();
  if (polling_ > 0) {
    if (livelocked()) {
      fail(": livelock: no progress for " + std::to_string(grid_->config.watchdog.count()) + " ms; " +
           describe_waiting());
      return false;
    }
    resume_pollers();
    return true;
  }
  if (at_grid_sync_ == thread_count_) {
    grid_->wait_for_grid(linear_block_, grid_sync_where_);
    if (grid_->failed()) {
      abandoned_ = true;
      return false;
    }
    for (unsigned w = 0; w < warp_count_; ++w) {
      make_ready(w, warps_[w].at_grid_sync);
      warps_[w].at_grid_sync = 0;
    }
    at_grid_sync_ = 0;
    if (watcher_ != nullptr) watcher_->grid_passed();
    current_warp_ = choose(ready_warps_);
    note_progress();
    return true;
  }
  fail(": deadlock: no thread can run; " + describe_waiting());
  return false;
}

bool BlockRunner::run_async() {
  if (const std::string wrong = async_.run_one(order_, next_random(random_)); !wrong.empty()) {
    fail(": " + wrong);
    return false;
  }
  note_progress();
  if (polling_ > 0) resume_pollers();
  return true;
}

void BlockRunner::resume_pollers() {
  beat();
  for (unsigned w = 0; w < warp_count_; ++w) {
    make_ready(w, warps_[w].polling);
    warps_[w].polling = 0;
  }
  polling_ = 0;
  current_warp_ = choose(ready_warps_);
  if (grid_->shared_by_threads()) std::this_thread::yield();
}

bool BlockRunner::livelocked() {
  const std::uint64_t progress = grid_->total_progress();
  const auto now = std::chrono::steady_clock::now();
  if (progress != seen_progress_) {
    seen_progress_ = progress;
    seen_at_ = now;
    set_polling(false);
    return false;
  }
  set_polling(true);
  return now - seen_at_ > grid_->config.watchdog && grid_->busy.load() == 0;
}

void BlockRunner::set_polling(bool polling) {
  if (polling == counted_as_polling_) return;
  counted_as_polling_ = polling;
  grid_->busy.fetch_add(polling ? -1 : 1);
}

void BlockRunner::fail(const std::string& what, StatusCode code) {
  grid_->fail(linear_block_, what, code);
  abandoned_ = true;
}

void BlockRunner::report_failure(const std::string& what) {
  fail(", thread " + describe(current_thread->index) + ": " + what);
}

void BlockRunner::abandon_thread() {
  switch_context(current_thread->fiber->context, scheduler_);
  std::abort();  // an abandoned thread is never resumed
}

std::string BlockRunner::describe_waiting() const {
  constexpr std::size_t kShown = 4;
  std::map<std::tuple<std::string, std::string>, unsigned> counts;
  for (unsigned i = 0; i < thread_count_; ++i) {
    const ThreadRecord& waiting = threads_[i];
    const WarpState& warp = warps_[waiting.warp];
    const std::uint32_t bit = 1u << waiting.lane;
    if ((warp.live & bit) == 0) continue;
    const bool at_barrier = (warp.at_barrier & bit) != 0;
    std::string place = at_barrier ? "__syncthreads" : waiting.waits_at;
    if (waiting.waits_on != nullptr) place += " (" + describe_mbarrier(waiting.waits_on) + ")";
    const bool has_line = waiting.waits_pc == nullptr || watcher_ == nullptr || at_barrier;
    ++counts[{std::move(place), has_line ? describe(at_barrier ? barrier_where_ : waiting.where)
                                         : watcher_->describe_code(waiting.waits_pc)}];
  }
  std::string text;
  std::size_t shown = 0;
  for (const auto& [place, count] : counts) {
    if (++shown > kShown) {
      text += ", and at " + std::to_string(counts.size() - kShown) + " more places";
      break;
    }
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " of " + std::to_string(thread_count_) + " threads wait in " +
            std::get<0>(place) + " at " + std::get<1>(place);
  }
  if (const unsigned exited = thread_count_ - live_; exited > 0)
    text += ", " + std::to_string(exited) + " have returned";
  return text;
}

}  // namespace rooftile::simt::detail
