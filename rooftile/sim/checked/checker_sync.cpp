// What orders the accesses of a block's threads: barriers, collectives, mbarriers, copies, atomics, fences.
#include <bit>

#include "rooftile/sim/checked/checker.h"

namespace rooftile::simt::checked {

using detail::current_thread;
using detail::WarpOp;

namespace {

std::uintptr_t as_number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

bool is_shuffle(WarpOp op) {
  return op == WarpOp::shuffle_index || op == WarpOp::shuffle_up || op == WarpOp::shuffle_down ||
         op == WarpOp::shuffle_xor;
}

}  // namespace

void Checker::barrier_passed(std::source_location where) {
  clocks_.pass_barrier();
  grid_clocks_.pass_barrier();
  RawSync& sync = syncs_[{place_of(where), "__syncthreads"}];
  ++sync.count;
  sync.lanes += threads_;
}

void Checker::collective_passed(unsigned warp, WarpOp op, std::uint32_t mask, std::uint32_t lanes,
                                const std::uint8_t* source_lanes, std::source_location where) {
  // Shuffles and votes order no memory accesses (CUDA C++ Programming Guide, warp vote and shuffle
  // functions).
  if (op == WarpOp::sync) {
    clocks_.pass_collective(warp, lanes, lanes == live_[warp]);
    grid_clocks_.pass_collective(warp, lanes);
  }
  const char* name = op == WarpOp::sync ? "__syncwarp" : is_shuffle(op) ? "shuffle" : "vote";
  RawSync& sync = syncs_[{place_of(where), name}];
  ++sync.count;
  sync.lanes += static_cast<std::uint64_t>(std::popcount(lanes));
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

void Checker::thread_exited(const detail::ThreadRecord& thread) {
  live_[thread.warp] &= ~(1u << thread.lane);
}

void Checker::grid_passed() {
  clocks_.pass_barrier();
  session_.reached_epoch(++epoch_);
}

void Checker::mbarrier_arrived(const void* mbarrier) {
  clocks_.release(current_thread->linear, as_number(mbarrier), false);
}

void Checker::mbarrier_passed(const void* mbarrier) {
  clocks_.acquire(current_thread->linear, as_number(mbarrier), false);
}

void Checker::copy_issued(const void* target, std::size_t bytes, std::source_location where) {
  const std::uintptr_t address = as_number(target);
  if (!checks_) return;
  std::size_t offset = address - dynamic_at_;
  if (address - variables_at_ < variables_.block_bytes()) {
    offset = kMaxDynamicSharedBytes + (address - variables_at_);
  } else if (offset >= kMaxDynamicSharedBytes) {
    return;
  }
  const unsigned thread = current_thread->linear;
  Mark mark;
  mark.stamp = clocks_.stamp(thread);
  mark.thread = static_cast<std::uint16_t>(thread);
  mark.write = true;
  const Mark other = shadow_.conflict(offset, bytes, mark, clocks_);
  if (other.bytes == 0) return;
  find(FindingKind::race, place_of(where), place_of(other.pc), [&] {
    return block_name() + ", thread " + thread_name(thread) + " starts a copy to shared memory that thread " +
           thread_name(other.thread) + (other.write ? " wrote" : " read") +
           " with no synchronisation between";
  });
}

void Checker::copy_landed(const void* target, std::size_t bytes) {
  const std::uintptr_t address = as_number(target);
  if (!checks_) return;
  if (address - variables_at_ < variables_.block_bytes()) {
    shadow_.set_written(kMaxDynamicSharedBytes + (address - variables_at_), bytes);
  } else if (address - dynamic_at_ < kMaxDynamicSharedBytes) {
    shadow_.set_written(address - dynamic_at_, bytes);
  } else if (KnownBuffer* buffer = session_.buffers.find(address, bytes); buffer != nullptr) {
    buffer->set_written(address, bytes);
  }
}

bool Checker::is_disabled(std::source_location where) {
  return !session_.options.disabled.empty() && session_.is_disabled(place_of(where));
}

Checker::Order Checker::order_at(Order order, const void* pc) {
  const bool disabled =
      order != Order::relaxed && !session_.options.disabled.empty() && session_.is_disabled(place_of(pc));
  return disabled ? Order::relaxed : order;
}

void Checker::before_atomic(std::uintptr_t address, Order order, bool writes, const void* pc) {
  order = order_at(order, pc);
  const unsigned thread = current_thread->linear;
  const bool releases = order == Order::release || order == Order::both;
  if (writes) {
    grid_clocks_.release(thread, address, !releases, releases ? clocks_.publish(thread) : BlockKnowledge{});
    clocks_.release(thread, address, !releases);
  }
  if (order == Order::relaxed) return;
  RawSync& sync = syncs_[{place_of(pc), order == Order::acquire   ? "acquire"
                                        : order == Order::release ? "release"
                                                                  : "acquire-release"}];
  ++sync.count;
  ++sync.lanes;
}

void Checker::after_atomic(std::uintptr_t address, Order order, const void* pc) {
  order = order_at(order, pc);
  const bool relaxed = order != Order::acquire && order != Order::both;
  clocks_.acquire(current_thread->linear, address, relaxed);
  grid_clocks_.acquire(current_thread->linear, address, relaxed);
}

void Checker::fence(const void* pc) {
  if (!session_.options.disabled.empty() && session_.is_disabled(place_of(pc))) return;
  const unsigned thread = current_thread->linear;
  grid_clocks_.fence(thread, clocks_.publish(thread));
  clocks_.fence(thread);
  RawSync& sync = syncs_[{place_of(pc), "fence"}];
  ++sync.count;
  ++sync.lanes;
}

}  // namespace rooftile::simt::checked
