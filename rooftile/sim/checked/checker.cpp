#include "rooftile/sim/checked/checker.h"

#include <bit>

#include "rooftile/sim/grid.h"

// The program's own segments, and what is __constant__ (null where nothing is).
extern "C" {
extern const char __start_rooftile_constant __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)
extern const char __stop_rooftile_constant __attribute__((weak));   // NOLINT(bugprone-reserved-identifier)
extern const char __executable_start;  // NOLINT(bugprone-reserved-identifier): the linker's names
extern const char _end;                // NOLINT(bugprone-reserved-identifier)
}

namespace rooftile::simt::checked {

using detail::current_thread;

constinit thread_local Checker* current_checker = nullptr;

namespace {

std::uintptr_t as_number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

const char* verb(AccessKind kind) {
  return kind == AccessKind::load ? "reads" : kind == AccessKind::store ? "writes" : "updates atomically";
}

}  // namespace

Checker::Checker(SessionState& session, detail::BlockRunner& runner)
    : session_(session),
      runner_(runner),
      metrics_(session.options.metrics),
      checks_(session.options.checks),
      variables_(SharedVariables::of_program()),
      shadow_(kMaxDynamicSharedBytes + variables_.block_bytes()),
      grid_clocks_(session.released) {}

void Checker::bind(const detail::GridRun& grid) {
  grid_ = &grid;
  threads_ = grid.block_threads;
  epoch_ = session_.launch_epoch();
  variables_at_ = SharedVariables::block_address();
  dynamic_at_ = as_number(runner_.block_record().dynamic_shared);
  current_checker = this;
}

void Checker::unbind() {
  current_checker = nullptr;
  grid_ = nullptr;
}

void Checker::block_started(std::uint64_t linear_block) {
  block_ = static_cast<std::uint32_t>(linear_block);
  grid_clocks_.start_block(block_);
  shadow_.start_block();
  clocks_.start_block(threads_);
  for (unsigned w = 0; w * kLanesOfWarp < threads_; ++w) {
    const unsigned lanes = threads_ - w * kLanesOfWarp;
    live_[w] = started_[w] = lanes >= kLanesOfWarp ? ~0u : (1u << lanes) - 1;
    held_lanes_[w] = 0;
  }
}

bool Checker::owns_shared(std::uintptr_t address) const {
  return address - variables_at_ < variables_.block_bytes() || address - dynamic_at_ < kMaxDynamicSharedBytes;
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

void Checker::hold_at(const Access& access, MemorySpace space, std::uintptr_t address) {
  hold({.pc = access.pc,
        .address = address,
        .bytes = access.bytes,
        .kind = access.kind,
        .space = space,
        .is_access = true},
       access.frame);
}

// The lanes that are deepest in calls, and of them those at the lowest address, go on: code is laid out so
// that the others, at a place behind a branch or a loop, wait there for them.
std::uint32_t Checker::release_held(unsigned warp) {
  const std::uint32_t lanes = held_lanes_[warp];
  if (lanes == 0) return 0;
  const Held* const of_warp = &held_[std::size_t{warp} * kLanesOfWarp];
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

void Checker::access(const Access& access) {
  const detail::ThreadRecord* self = current_thread;
  if (self == nullptr) return;  // the launcher
  ++accesses_;
  const detail::Context& stack = self->fiber->context;
  const std::uintptr_t address = access.address;
  if (address - as_number(stack.stack_bottom) < stack.stack_bytes) return;  // local memory
  if (address - variables_at_ < variables_.block_bytes()) {
    access_shared_variable(address - variables_at_, access);
  } else if (address - dynamic_at_ < kMaxDynamicSharedBytes) {
    access_dynamic_shared(address - dynamic_at_, access);
  } else {
    access_global(access);
  }
}

void Checker::access_shared_variable(std::size_t offset, const Access& access) {
  const SharedVariable* variable = variables_.at(offset);
  if (variable == nullptr) return;  // of the executor
  if (checks_) {
    if (offset + access.bytes > variable->offset + variable->bytes) {
      find(FindingKind::out_of_bounds, place_of(access.pc), {},
           [&] { return who(access.kind) + "across the end of shared " + variable->name; });
    }
    check_shared(kMaxDynamicSharedBytes + offset, access, variable->name, offset - variable->offset);
  }
  if (metrics_) hold_at(access, MemorySpace::shared, offset);
}

void Checker::access_dynamic_shared(std::size_t offset, const Access& access) {
  const std::size_t size = runner_.block_record().dynamic_shared_bytes;
  if (checks_) {
    if (offset + access.bytes > size) {
      find(FindingKind::out_of_bounds, place_of(access.pc), {}, [&] {
        return who(access.kind) + "byte " + std::to_string(offset) + " of dynamic shared memory, which has " +
               std::to_string(size) + " bytes";
      });
    } else {
      check_shared(offset, access, "dynamic shared memory", offset);
    }
  }
  if (metrics_) hold_at(access, MemorySpace::shared, offset);
}

void Checker::check_shared(std::size_t shadow_offset, const Access& access, std::string_view name,
                           std::size_t name_offset) {
  const unsigned thread = current_thread->linear;
  const Mark mark{access.pc, clocks_.stamp(thread), static_cast<std::uint16_t>(thread),
                  0,         access.atomic,         access.kind != AccessKind::load};
  const SharedVerdict verdict =
      shadow_.access(shadow_offset, access.bytes, mark, access.kind != AccessKind::store, clocks_);
  if (!verdict.uninitialised && verdict.conflict.bytes == 0) [[likely]]
    return;
  const auto where = [&] {
    return "byte " + std::to_string(name_offset) + " of shared " + std::string(name);
  };
  if (verdict.uninitialised) {
    find(FindingKind::uninitialised, place_of(access.pc), {},
         [&] { return who(access.kind) + where() + ", which no thread of the block has written"; });
  }
  if (verdict.conflict.bytes != 0) {
    const Mark& other = verdict.conflict;
    find(FindingKind::race, place_of(access.pc), place_of(other.pc), [&] {
      return who(access.kind) + where() + ", which thread " + thread_name(other.thread) +
             (other.write ? " wrote" : " read") + " with no synchronisation between";
    });
  }
}

void Checker::access_global(const Access& access) {
  const std::uintptr_t address = access.address;
  const std::uintptr_t constants = as_number(&__start_rooftile_constant);
  if (address - constants < as_number(&__stop_rooftile_constant) - constants) {
    if (metrics_) hold_at(access, MemorySpace::constant, address);
    return;
  }
  const std::uintptr_t program = as_number(&__executable_start);
  if (address - program < as_number(&_end) - program) return;
  if (address - as_number(&runner_) < sizeof(runner_)) return;
  if (address - as_number(grid_->kernel.bound) < grid_->kernel.bound_bytes) return;  // the kernel's arguments
  if (!session_.buffers.empty()) {
    KnownBuffer* buffer = session_.buffers.find(address, access.bytes);
    if (buffer == nullptr && session_.is_shared_of_cluster(address)) return;
    if (buffer == nullptr) {
      const auto text = [&] { return who(access.kind) + session_.buffers.describe_outside(address); };
      find(FindingKind::out_of_bounds, place_of(access.pc), {}, text);
      if (session_.buffers.is_near(address)) return;
      detail::report_failure("out of bounds: " + text());  // it may be no memory at all
      detail::abandon_thread();
    }
    if (checks_) check_global(*buffer, access);
  }
  if (metrics_) hold_at(access, MemorySpace::global, address);
}

void Checker::check_global(KnownBuffer& buffer, const Access& access) {
  const std::size_t offset = access.address - buffer.begin();
  const auto where = [&] { return "byte " + std::to_string(offset) + " of " + buffer.name(); };
  if (access.kind != AccessKind::store && !buffer.is_written(access.address, access.bytes)) {
    find(FindingKind::uninitialised, place_of(access.pc), {},
         [&] { return who(access.kind) + where() + ", which nobody has written"; });
  }
  if (access.kind != AccessKind::load) buffer.set_written(access.address, access.bytes);
  if (buffer.shadow() == nullptr) return;
  const unsigned thread = current_thread->linear;
  GlobalMark mark;
  mark.pc = access.pc;
  mark.stamp = clocks_.stamp(thread);
  mark.block = block_;
  mark.epoch = epoch_;
  mark.thread = static_cast<std::uint16_t>(thread);
  mark.atomic = access.atomic;
  mark.write = access.kind != AccessKind::load;
  const GlobalMark other = buffer.shadow()->access(offset, access.bytes, mark, clocks_, grid_clocks_);
  if (other.epoch == 0) return;
  find(FindingKind::race, place_of(access.pc), place_of(other.pc), [&] {
    return who(access.kind) + where() + ", which thread " + thread_name(other.thread) +
           (other.block == block_ ? "" : " of block " + detail::describe(grid_->block_index(other.block))) +
           (other.write ? " wrote" : " read") + " with no synchronisation between";
  });
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
