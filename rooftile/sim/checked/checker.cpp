#include "rooftile/sim/checked/checker.h"

#include <bit>

#include "rooftile/sim/grid.h"

// The program's own segments: constants, and what is __constant__.
extern "C" {
extern const char __executable_start;  // NOLINT(bugprone-reserved-identifier): the linker's names
extern const char _end;                // NOLINT(bugprone-reserved-identifier)
}

namespace rooftile::simt::checked {

using detail::current_thread;
using detail::WarpOp;

constinit thread_local Checker* current_checker = nullptr;

namespace {

std::uintptr_t as_number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

const char* verb(AccessKind kind) {
  return kind == AccessKind::load ? "reads" : kind == AccessKind::store ? "writes" : "updates atomically";
}

bool is_shuffle(WarpOp op) {
  return op == WarpOp::shuffle_index || op == WarpOp::shuffle_up || op == WarpOp::shuffle_down ||
         op == WarpOp::shuffle_xor;
}

}  // namespace

template <class Text>
void Checker::find(FindingKind kind, const Place& at, const Place& other, Text&& text) {
  RawFinding& finding = findings_[{kind, at, other}];
  if (finding.count++ > 0) return;
  finding.what = text();
  finding.kernel = grid_->kernel.kernel;
}

Checker::Checker(SessionState& session, detail::BlockRunner& runner)
    : session_(session),
      runner_(runner),
      metrics_(session.options.metrics),
      checks_(session.options.checks),
      variables_(SharedVariables::of_program()),
      shadow_(kMaxDynamicSharedBytes + variables_.block_bytes()) {}

void Checker::bind(const detail::GridRun& grid) {
  grid_ = &grid;
  threads_ = grid.block_threads;
  variables_at_ = SharedVariables::block_address();
  dynamic_at_ = as_number(runner_.block_record().dynamic_shared);
  current_checker = this;
}

void Checker::unbind() {
  current_checker = nullptr;
  grid_ = nullptr;
}

void Checker::block_started(std::uint64_t) {
  shadow_.start_block();
  clocks_.start_block(threads_);
  for (unsigned w = 0; w * kLanesOfWarp < threads_; ++w) {
    const unsigned lanes = threads_ - w * kLanesOfWarp;
    live_[w] = started_[w] = lanes >= kLanesOfWarp ? ~0u : (1u << lanes) - 1;
    held_lanes_[w] = 0;
  }
}

void Checker::barrier_passed(std::source_location where) {
  clocks_.pass_barrier();
  RawSync& sync = syncs_[{place_of(where), "__syncthreads"}];
  ++sync.count;
  sync.lanes += threads_;
}

void Checker::collective_passed(unsigned warp, WarpOp op, std::uint32_t mask, std::uint32_t lanes,
                                const std::uint8_t* source_lanes, std::source_location where) {
  clocks_.pass_collective(warp, lanes, lanes == live_[warp]);
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

void Checker::grid_passed() { clocks_.pass_barrier(); }

bool Checker::is_disabled(std::source_location where) {
  return !session_.options.disabled.empty() && session_.is_disabled(place_of(where));
}

void Checker::hold(const Held& held, const void* frame) {
  const detail::ThreadRecord& self = *current_thread;
  const detail::Context& stack = self.fiber->context;
  Held& mine = held_[self.linear];
  mine = held;
  mine.depth = as_number(stack.stack_bottom) + stack.stack_bytes - as_number(frame);
  held_lanes_[self.warp] |= 1u << self.lane;
  runner_.hold_thread();
}

// The lanes that are deepest in calls, and of them those at the lowest address, go on: code is laid out so
// that the others, at a place behind a branch or a loop, wait there for them.
std::uint32_t Checker::release_held(unsigned warp) {
  const std::uint32_t lanes = held_lanes_[warp];
  if (lanes == 0) return 0;
  const Held* const of_warp = &held_[warp * kLanesOfWarp];
  const Held* first = nullptr;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const Held& held = of_warp[std::countr_zero(left)];
    if (first == nullptr || held.depth > first->depth ||
        (held.depth == first->depth && held.pc < first->pc)) {
      first = &held;
    }
  }
  WarpRequest request;
  request.bytes = first->bytes;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Held& held = of_warp[lane];
    if (held.pc != first->pc || held.depth != first->depth || held.space != first->space) continue;
    request.lanes |= 1u << lane;
    request.address[static_cast<unsigned>(lane)] = held.address;
  }
  if (first->is_access) {
    sites_.add(first->pc, first->kind, first->space, request);
  } else {
    ++basic_blocks_;
    basic_block_lanes_ += static_cast<std::uint64_t>(std::popcount(request.lanes));
  }
  held_lanes_[warp] &= ~request.lanes;
  return request.lanes;
}

void Checker::basic_block(const void* pc, const void* frame) {
  if (metrics_ && current_thread != nullptr) hold({.pc = pc}, frame);
}

void Checker::access(std::uintptr_t address, unsigned bytes, AccessKind kind, const void* pc,
                     const void* frame) {
  const detail::ThreadRecord* self = current_thread;
  if (self == nullptr) return;  // the launcher
  ++accesses_;
  const detail::Context& stack = self->fiber->context;
  if (address - as_number(stack.stack_bottom) < stack.stack_bytes) return;  // local memory
  if (address - variables_at_ < variables_.block_bytes()) {
    access_shared_variable(address - variables_at_, bytes, kind, pc, frame);
  } else if (address - dynamic_at_ < kMaxDynamicSharedBytes) {
    access_dynamic_shared(address - dynamic_at_, bytes, kind, pc, frame);
  } else {
    access_global(address, bytes, kind, pc, frame);
  }
}

void Checker::access_shared_variable(std::size_t offset, unsigned bytes, AccessKind kind, const void* pc,
                                     const void* frame) {
  const SharedVariable* variable = variables_.at(offset);
  if (variable == nullptr) return;  // of the executor
  if (checks_) {
    if (offset + bytes > variable->offset + variable->bytes) {
      find(FindingKind::out_of_bounds, place_of(pc), {},
           [&] { return who(kind) + "across the end of shared " + variable->name; });
    }
    check_shared(kMaxDynamicSharedBytes + offset, bytes, kind, pc, variable->name, offset - variable->offset);
  }
  if (metrics_) {
    hold({.pc = pc,
          .address = offset,
          .bytes = bytes,
          .kind = kind,
          .space = MemorySpace::shared,
          .is_access = true},
         frame);
  }
}

void Checker::access_dynamic_shared(std::size_t offset, unsigned bytes, AccessKind kind, const void* pc,
                                    const void* frame) {
  const std::size_t size = runner_.block_record().dynamic_shared_bytes;
  if (checks_) {
    if (offset + bytes > size) {
      find(FindingKind::out_of_bounds, place_of(pc), {}, [&] {
        return who(kind) + "byte " + std::to_string(offset) + " of dynamic shared memory, which has " +
               std::to_string(size) + " bytes";
      });
    } else {
      check_shared(offset, bytes, kind, pc, "dynamic shared memory", offset);
    }
  }
  if (metrics_) {
    hold({.pc = pc,
          .address = offset,
          .bytes = bytes,
          .kind = kind,
          .space = MemorySpace::shared,
          .is_access = true},
         frame);
  }
}

void Checker::check_shared(std::size_t shadow_offset, unsigned bytes, AccessKind kind, const void* pc,
                           const std::string& name, std::size_t name_offset) {
  const unsigned thread = current_thread->linear;
  const SharedVerdict verdict = shadow_.access(shadow_offset, bytes, kind, thread, pc, clocks_);
  if (!verdict.uninitialised && verdict.conflict.bytes == 0) [[likely]]
    return;
  const auto where = [&] { return "byte " + std::to_string(name_offset) + " of shared " + name; };
  if (verdict.uninitialised) {
    find(FindingKind::uninitialised, place_of(pc), {},
         [&] { return who(kind) + where() + ", which no thread of the block has written"; });
  }
  if (verdict.conflict.bytes != 0) {
    const Mark& other = verdict.conflict;
    find(FindingKind::race, place_of(pc), place_of(other.pc), [&] {
      return who(kind) + where() + ", which thread " + thread_name(other.thread) +
             (other.write ? " wrote" : " read") + " with no synchronisation between";
    });
  }
}

void Checker::access_global(std::uintptr_t address, unsigned bytes, AccessKind kind, const void* pc,
                            const void* frame) {
  const std::uintptr_t program = as_number(&__executable_start);
  if (address - program < as_number(&_end) - program) return;
  if (address - as_number(&runner_) < sizeof(runner_)) return;
  if (address - as_number(grid_->kernel.bound) < grid_->kernel.bound_bytes) return;  // the kernel's arguments
  if (!session_.buffers.empty()) {
    KnownBuffer* buffer = session_.buffers.find(address, bytes);
    if (buffer == nullptr) {
      const auto text = [&] { return who(kind) + session_.buffers.describe_outside(address); };
      find(FindingKind::out_of_bounds, place_of(pc), {}, text);
      if (session_.buffers.is_near(address)) return;
      detail::report_failure("out of bounds: " + text());  // it may be no memory at all
      detail::abandon_thread();
    }
    if (checks_) {
      if (kind != AccessKind::store && !buffer->is_written(address, bytes)) {
        find(FindingKind::uninitialised, place_of(pc), {}, [&] {
          return who(kind) + "byte " + std::to_string(address - buffer->begin()) + " of " + buffer->name() +
                 ", which nobody has written";
        });
      }
      if (kind != AccessKind::load) buffer->set_written(address, bytes);
    }
  }
  if (metrics_) {
    hold({.pc = pc,
          .address = address,
          .bytes = bytes,
          .kind = kind,
          .space = MemorySpace::global,
          .is_access = true},
         frame);
  }
}

void Checker::atomic_order(std::uintptr_t address, Order order, bool reads, bool writes, const void* pc) {
  if (order != Order::relaxed && !session_.options.disabled.empty() && session_.is_disabled(place_of(pc))) {
    order = Order::relaxed;
  }
  const unsigned thread = current_thread->linear;
  if (reads) clocks_.acquire(thread, address, order != Order::acquire && order != Order::both);
  if (writes) clocks_.release(thread, address, order != Order::release && order != Order::both);
  if (order != Order::relaxed) {
    RawSync& sync = syncs_[{place_of(pc), order == Order::acquire   ? "acquire"
                                          : order == Order::release ? "release"
                                                                    : "acquire-release"}];
    ++sync.count;
    ++sync.lanes;
  }
}

void Checker::fence(const void* pc) {
  if (!session_.options.disabled.empty() && session_.is_disabled(place_of(pc))) return;
  clocks_.fence(current_thread->linear);
  RawSync& sync = syncs_[{place_of(pc), "fence"}];
  ++sync.count;
  ++sync.lanes;
}

void Checker::index_out_of_bounds(const char* file, unsigned line, const std::string& what) {
  find(FindingKind::out_of_bounds, {nullptr, file, line}, {},
       [&] { return block_name() + ", thread " + thread_name(current_thread->linear) + " " + what; });
}

std::string Checker::thread_name(unsigned linear) const {
  const dim3& block = runner_.block_record().block_dim;
  return detail::describe(uint3{linear % block.x, linear / block.x % block.y, linear / (block.x * block.y)});
}

std::string Checker::who(AccessKind kind) const {
  return block_name() + ", thread " + thread_name(current_thread->linear) + " " + verb(kind) + " ";
}

std::string Checker::block_name() const { return "block " + detail::describe(runner_.block_record().index); }

}  // namespace rooftile::simt::checked
