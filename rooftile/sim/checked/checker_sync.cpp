// What orders the accesses of a block's threads: barriers, collectives, the cluster, atomics, fences.
#include <bit>

#include "rooftile/sim/checked/checker.h"

namespace rooftile::simt::checked {

using detail::current_thread;
using detail::WarpOp;

namespace {

bool is_shuffle(WarpOp op) {
  return op == WarpOp::shuffle_index || op == WarpOp::shuffle_up || op == WarpOp::shuffle_down ||
         op == WarpOp::shuffle_xor;
}

const char* name_of(WarpOp op) {
  switch (op) {
    case WarpOp::sync:
      return "__syncwarp";
    case WarpOp::wgmma:
      return "wgmma";
    case WarpOp::wgmma_fence:
      return "wgmma fence";
    case WarpOp::wgmma_commit:
      return "wgmma commit";
    case WarpOp::wgmma_wait:
      return "wgmma wait";
    case WarpOp::setmaxnreg:
      return "setmaxnreg";
    default:
      return is_shuffle(op) ? "shuffle" : detail::is_matrix_op(op) ? "mma_sync" : "vote";
  }
}

bool moves_matrices(WarpOp op) {
  return op == WarpOp::load_matrix || op == WarpOp::store_matrix || op == WarpOp::ldmatrix ||
         op == WarpOp::stmatrix;
}

}  // namespace

void Checker::barrier_passed(std::source_location where) {
  close_requests();
  const auto lock = lock_for_event();
  cluster_->clocks.pass_barrier(rank_);
  grid_clocks_.pass_barrier();
  count_sync(place_of(where), "__syncthreads", threads_);
}

void Checker::collective_passed(unsigned warp, WarpOp op, std::uint32_t mask, std::uint32_t lanes,
                                const std::uint8_t* source_lanes, std::source_location where) {
  if (metrics_) open_requests_[warp].close(sites_);
  // Shuffles and votes order no memory accesses (CUDA C++
  // Programming Guide, warp vote and shuffle functions).
  if (op == WarpOp::sync) {
    const auto lock = lock_for_event();
    cluster_->clocks.pass_collective(first_thread_ / kLanesOfWarp + warp, lanes, lanes == live_[warp]);
    grid_clocks_.pass_collective(warp, lanes);
  }
  if (moves_matrices(op)) return;  // their accesses are counted
  const char* name = name_of(op);
  count_sync(place_of(where), name, static_cast<std::uint64_t>(std::popcount(lanes)));
  if (!checks_ || !is_shuffle(op)) return;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint32_t source = 1u << source_lanes[lane];
    if ((lanes & source) != 0) continue;
    find(FindingKind::shuffle_source, place_of(where), {}, [&] {
      return block_name() + ": lane " + std::to_string(lane) + " of warp " + std::to_string(warp) +
             " reads from lane " + std::to_string(source_lanes[lane]) +
             ((mask & source) == 0             ? ", which the mask does not name"
              : (started_[warp] & source) == 0 ? ", which the block does not have"
                                               : ", which has exited");
    });
  }
  if (const std::uint32_t exited = mask & started_[warp] & ~live_[warp]; exited != 0) {
    find(FindingKind::shuffle_source, place_of(where), {}, [&] {
      return block_name() + ": the mask names lane " + std::to_string(std::countr_zero(exited)) +
             " of warp " + std::to_string(warp) + ", which has exited";
    });
  }
}

std::string Checker::describe_code(const void* pc) { return session_.describe(pc); }

void Checker::volatile_read(const void* pc) {
  detail::ThreadRecord& self = *current_thread;
  if ((++self.polls & 63u) != 0) return;
  self.waits_pc = pc;
  detail::poll("a read of a volatile", {});
  self.waits_pc = nullptr;
}

// A thread that stores may be at work for long; one that only turns in a loop is not.
void Checker::look_for_endless_loop(const void* pc) {
  constexpr int kPatienceWithStores = 30;
  if (current_thread == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (const std::uint64_t progress = grid_->total_progress(); progress != seen_progress_) {
    seen_progress_ = progress;
    progressed_at_ = stored_at_ = now;
  }
  if (stores_ != seen_stores_) {
    seen_stores_ = stores_;
    stored_at_ = now;
  }
  const auto watchdog = grid_->config.watchdog;
  if (now - stored_at_ <= watchdog && now - progressed_at_ <= kPatienceWithStores * watchdog) return;
  detail::report_failure("livelock: an endless loop at " + session_.describe(pc) +
                         ": nothing that others wait for in the watchdog's " +
                         std::to_string(watchdog.count()) + " ms");
  detail::abandon_thread();
}

void Checker::thread_exited(const detail::ThreadRecord& thread) {
  live_[thread.warp] &= ~(1u << thread.lane);
}

void Checker::grid_passed() {
  cluster_->clocks.pass_barrier(rank_);
  session_.reached_epoch(++epoch_);
}

void Checker::cluster_arrived(std::uint32_t phase, bool relaxed) {
  if (relaxed) return;
  const auto lock = lock_for_event();
  ClusterState::Barrier& barrier = cluster_->barriers[phase % 2];
  if (barrier.phase != phase) barrier = {phase, nullptr};
  cluster_->clocks.arrive_at_phase(thread_id(), phase);
  barrier.grid = GridClocks::joined(barrier.grid, grid_clocks_.knowledge(current_thread->linear));
}

void Checker::cluster_passed(std::uint32_t phase, std::source_location where) {
  const auto lock = lock_for_event();
  count_sync(place_of(where), "cluster barrier", 1);
  cluster_->clocks.pass_phase(thread_id(), phase);
  const ClusterState::Barrier& barrier = cluster_->barriers[phase % 2];
  if (barrier.phase != phase) return;  // all arrived relaxed
  grid_clocks_.learn(current_thread->linear, barrier.grid);
}

bool Checker::is_disabled(std::source_location where) {
  return !session_.options.disabled.empty() && session_.is_disabled(place_of(where));
}

Checker::Order Checker::order_at(Order order, const void* pc) {
  const bool disabled =
      order != Order::relaxed && !session_.options.disabled.empty() && session_.is_disabled(place_of(pc));
  return disabled ? Order::relaxed : order;
}

void Checker::count_sync(const Place& place, const char* name, std::uint64_t lanes) {
  RawSync& sync = syncs_[{place, name}];
  ++sync.count;
  sync.lanes += lanes;
}

void Checker::before_atomic(std::uintptr_t address, Order order, bool writes, const void* pc) {
  order = order_at(order, pc);
  const bool releases = order == Order::release || order == Order::both;
  if (writes) {
    const auto lock = lock_for_event();
    LaneClocks& clocks = cluster_->clocks;
    const unsigned thread = thread_id();
    grid_clocks_.release(current_thread->linear, address, !releases,
                         releases ? clocks.publish(thread) : Published{});
    clocks.release(thread, address, !releases);
  }
  if (order == Order::relaxed) return;
  count_sync(place_of(pc),
             order == Order::acquire   ? "acquire"
             : order == Order::release ? "release"
                                       : "acquire-release",
             1);
}

void Checker::after_atomic(std::uintptr_t address, Order order, const void* pc) {
  order = order_at(order, pc);
  const bool relaxed = order != Order::acquire && order != Order::both;
  const auto lock = lock_for_event();
  cluster_->clocks.acquire(thread_id(), address, relaxed);
  grid_clocks_.acquire(current_thread->linear, address, relaxed);
}

void Checker::fence(const void* pc) {
  if (!session_.options.disabled.empty() && session_.is_disabled(place_of(pc))) return;
  const auto lock = lock_for_event();
  const unsigned thread = thread_id();
  grid_clocks_.fence(current_thread->linear, cluster_->clocks.publish(thread));
  cluster_->clocks.fence(thread);
  count_sync(place_of(pc), "fence", 1);
}

}  // namespace rooftile::simt::checked
