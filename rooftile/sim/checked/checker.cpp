#include "rooftile/sim/checked/checker.h"

#include <algorithm>
#include <bit>

#include "rooftile/sim/grid.h"

// The program's own segments.
extern "C" {
extern const char __executable_start;  // NOLINT(bugprone-reserved-identifier): the linker's names
extern const char _end;                // NOLINT(bugprone-reserved-identifier)
}

namespace rooftile::simt::checked {

using detail::current_thread;

constinit thread_local Checker* current_checker = nullptr;

namespace {

std::uintptr_t as_number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

constexpr std::string_view kDynamicName = "dynamic shared memory";

}  // namespace

Checker::Checker(SessionState& session, detail::BlockRunner& runner)
    : session_(session),
      runner_(runner),
      metrics_(session.options.metrics),
      checks_(session.options.checks),
      variables_(KernelVariables::of_program()),
      shadow_(kMaxDynamicSharedBytes + variables_.block_bytes()),
      grid_clocks_(session.released),
      open_requests_(metrics_ ? detail::kMaxWarps : 0),
      steps_until_noted_(metrics_ ? 1 : kStepsBetweenLooks) {}

Checker::~Checker() = default;

void Checker::bind(const detail::GridRun& grid, ClusterState* cluster) {
  grid_ = &grid;
  threads_ = grid.block_threads;
  epoch_ = session_.launch_epoch();
  is_alone_ = !grid.shared_by_threads();
  variables_at_ = KernelVariables::block_address();
  dynamic_at_ = as_number(runner_.block_record().dynamic_shared);
  cluster_ = cluster != nullptr ? cluster : &alone_;
  rank_ = runner_.block_record().cluster_rank;
  cluster_->members[rank_] = this;
  current_checker = this;
}

void ClusterState::start(std::uint64_t new_cluster, unsigned block_threads) {
  cluster = new_cluster;
  Stamp last = 0;  // in the shadows of its blocks, by whichever clocks
  for (unsigned rank = 0; rank < blocks; ++rank) last = std::max(last, members[rank]->start_shadow());
  clocks.start(blocks, block_threads, last);
  agents.start();
  shared_fences.clear();
  barriers = {};
  returned = {};
  for (auto& uses : remote_uses) uses.clear();
}

void Checker::unbind() {
  const auto lock = cluster_->lock();
  last_stamp_ = std::max(last_stamp_, cluster_->clocks.now());  // clocks that never started are behind
  stores_are_done();
  close_requests();
  store_pairs_.drop();
  current_checker = nullptr;
  grid_ = nullptr;
}

void Checker::block_started(std::uint64_t linear_block) {
  block_ = static_cast<std::uint32_t>(linear_block);
  grid_clocks_.start_block();
  stored_at_ = progressed_at_ = std::chrono::steady_clock::now();
  if (is_in_block_) forget_block();  // the one before was given up
  is_in_block_ = true;
  if (watches_registers_) registers_.clear();
  watches_registers_ = false;
  {
    const auto lock = cluster_->lock();
    const detail::BlockRecord& record = runner_.block_record();
    const dim3& extent = record.cluster_dim;
    const dim3& grid = record.grid_dim;
    const std::uint64_t row = record.index.y / extent.y + std::uint64_t{record.index.z / extent.z} * grid.y;
    const std::uint64_t cluster = record.index.x / extent.x + row * grid.x;
    if (cluster_->blocks == 1 || cluster_->cluster != cluster) cluster_->start(cluster, threads_);
    cluster_->clocks.set_block(rank_, block_);
    first_thread_ = cluster_->clocks.first_thread(rank_);
  }
  for (unsigned w = 0; w * kLanesOfWarp < threads_; ++w) {
    const unsigned lanes = threads_ - w * kLanesOfWarp;
    live_[w] = started_[w] = lanes >= kLanesOfWarp ? ~0u : (1u << lanes) - 1;
    held_lanes_[w] = 0;
  }
}

void Checker::forget_block() {
  store_pairs_.drop();
  stores_now_ = nullptr;
  for (unsigned t = 0; t < kMaxBlockThreads; ++t) {
    held_[t].waits = false;
    in_flight_[t].address.store(0, std::memory_order_relaxed);
  }
}

const Place* Checker::keep_place(std::source_location where) {
  return &*places_.insert(place_of(where)).first;
}

void Checker::hold(const Held& held, const void* frame) {
  const detail::ThreadRecord& self = *current_thread;
  const detail::Context& stack = self.fiber->context;
  Held& mine = held_[self.linear];
  const std::uint32_t serial = mine.serial + 1;
  mine = held;
  mine.serial = serial;
  mine.waits = true;
  mine.depth = as_number(stack.stack_bottom) + stack.stack_bytes - as_number(frame);
  held_lanes_[self.warp] |= 1u << self.lane;
  runner_.hold_thread();
  stores_are_done();  // of others: this one's comes now
  mine.waits = false;
  if (StoreInFlight& store = in_flight_[self.linear]; store.address.load(std::memory_order_relaxed) != 0)
    stores_now_ = &store;
}

void Checker::hold_at(const Access& access, MemorySpace space, std::uintptr_t address) {
  hold({.pc = access.pc,
        .address = address,
        .bytes = access.bytes,
        .kind = access.kind,
        .space = space,
        .is_access = true,
        .matrix_row = access.matrix_row},
       access.frame);
}

// The lanes that are deepest in calls, and of them those at the lowest address, go on: code is laid out so
// that the others, at a place behind a branch or a loop, wait there for them.
std::uint32_t Checker::release_held(unsigned warp) {
  stores_are_done();  // before this OS thread may wait for another one
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
  request.matrix_rows = first->matrix_row;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Held& held = of_warp[lane];
    if (held.pc != first->pc || held.depth != first->depth || held.space != first->space) continue;
    request.lanes |= 1u << lane;
    request.address[static_cast<unsigned>(lane)] = held.address;
  }
  if (first->is_access) {
    open_requests_[warp].add(first->pc, first->kind, first->space, request, member_alignment(first->pc),
                             sites_);
  } else {
    open_requests_[warp].close(sites_);
    ++basic_blocks_;
    basic_block_lanes_ += static_cast<std::uint64_t>(std::popcount(request.lanes));
  }
  held_lanes_[warp] &= ~request.lanes;
  return request.lanes;
}

void Checker::note_step(const void* pc, const void* frame) {
  const std::uint32_t steps = metrics_ ? 1 : kStepsBetweenLooks;
  steps_until_noted_ = steps;
  if (steps_until_look_ > steps) {
    steps_until_look_ -= steps;
  } else {
    steps_until_look_ = kStepsBetweenLooks;
    look_for_endless_loop(pc);
  }
  if (metrics_ && current_thread != nullptr) hold({.pc = pc}, frame);
}

void Checker::accessed(detail::CopyRange range, bool writes, bool matrix_row, const void* pc,
                       const void* frame) {
  access({.address = as_number(range.address),
          .bytes = static_cast<unsigned>(range.bytes),
          .kind = writes ? AccessKind::store : AccessKind::load,
          .atomic = false,
          .pc = pc,
          .frame = frame,
          .matrix_row = matrix_row});
}

void Checker::access(const Access& access) {
  const detail::ThreadRecord* self = current_thread;
  if (self == nullptr) return;  // the launcher
  note_local_access(access.kind);
  stores_are_done();
  const detail::Context& stack = self->fiber->context;
  const std::uintptr_t address = access.address;
  if (address - as_number(stack.stack_bottom) < stack.stack_bytes) {  // local memory
    if (watches_registers_) access_registers(address, access.bytes, access.kind, access.pc);
    return;
  }
  // Dynamic shared memory first: it is thread-local, too.
  if (address - dynamic_at_ < kMaxDynamicSharedBytes) {
    access_dynamic_shared(address - dynamic_at_, access);
  } else if (address - variables_at_ < variables_.block_bytes()) {
    access_shared_variable(address - variables_at_, access);
  } else {
    access_global(access);
  }
}

void Checker::access_shared_variable(std::size_t offset, const Access& access) {
  const KernelVariable* variable = variables_.shared_at(offset);
  if (variable == nullptr) return;  // of the executor
  if (cluster_->blocks > 1) begin_store(access);
  if (checks_) {
    const Touch touch = touch_of(access);
    if (offset + access.bytes > variable->place + variable->bytes) {
      find(FindingKind::out_of_bounds, touch.place(), {},
           [&] { return who(touch) + "across the end of shared " + variable->name; });
    }
    check_shared({this, kMaxDynamicSharedBytes + offset, variable->name, offset - variable->place},
                 access.bytes, touch);
  }
  if (metrics_) hold_at(access, MemorySpace::shared, offset);
}

void Checker::access_dynamic_shared(std::size_t offset, const Access& access) {
  const std::size_t size = runner_.block_record().dynamic_shared_bytes;
  if (cluster_->blocks > 1) begin_store(access);
  if (checks_) {
    const Touch touch = touch_of(access);
    if (offset + access.bytes > size) {
      find(FindingKind::out_of_bounds, touch.place(), {}, [&] {
        return who(touch) + "byte " + std::to_string(offset) + " of dynamic shared memory, which has " +
               std::to_string(size) + " bytes";
      });
    } else {
      check_shared({this, offset, kDynamicName, offset}, access.bytes, touch);
    }
  }
  if (metrics_) hold_at(access, MemorySpace::shared, offset);
}

bool Checker::locate_own(std::uintptr_t address, SharedPlace& place) {
  if (const std::size_t offset = address - dynamic_at_; offset < kMaxDynamicSharedBytes) {
    place = {this, offset, kDynamicName, offset};
    return offset < runner_.block_record().dynamic_shared_bytes;
  }
  if (const std::size_t offset = address - variables_at_; offset < variables_.block_bytes()) {
    const KernelVariable* variable = variables_.shared_at(offset);
    if (variable == nullptr) return false;  // of the executor
    place = {this, kMaxDynamicSharedBytes + offset, variable->name, offset - variable->place};
    return true;
  }
  return false;
}

bool Checker::locate_shared(std::uintptr_t address, SharedPlace& place) {
  for (unsigned rank = 0; rank < cluster_->blocks; ++rank) {
    if (cluster_->members[rank]->locate_own(address, place)) return true;
  }
  return false;
}

void Checker::access_remote(const SharedPlace& place, const Access& access) {
  begin_store(access);
  if (checks_) check_shared(place, access.bytes, touch_of(access));
  if (metrics_) hold_at(access, MemorySpace::shared, place.offset);
}

void Checker::access_global(const Access& access) {
  const std::uintptr_t address = access.address;
  // Most are of a buffer.
  if (KnownBuffer* buffer = session_.buffers.find(address, access.bytes); buffer != nullptr) {
    access_buffer(*buffer, access);
    return;
  }
  if (constants_.contains(address)) {
    if (metrics_) hold_at(access, MemorySpace::constant, address);
    return;
  }
  const std::uintptr_t program = as_number(&__executable_start);
  if (address - program < as_number(&_end) - program) {
    // A __device__ variable; else a literal, or a static variable of the host.
    if (KnownBuffer* variable = session_.device_variables.find(address, access.bytes); variable != nullptr) {
      access_buffer(*variable, access);
    }
    return;
  }
  if (address - as_number(&runner_) < sizeof(runner_)) return;
  if (address - as_number(grid_->kernel.bound) < grid_->kernel.bound_bytes) return;  // the kernel's arguments
  SharedPlace place{};
  if (cluster_->blocks > 1 && locate_shared(address, place)) return access_remote(place, access);
  if (session_.buffers.empty()) {
    if (metrics_) hold_at(access, MemorySpace::global, address);
    return;
  }
  fail_out_of_bounds(touch_of(access), address);
}

void Checker::access_buffer(KnownBuffer& buffer, const Access& access) {
  begin_store(access);
  const bool may_be_wrong = access.kind != AccessKind::load || !buffer.is_constant();
  if (checks_ && may_be_wrong) check_global(buffer, access.address, access.bytes, touch_of(access));
  if (metrics_) hold_at(access, MemorySpace::global, access.address);
}

void Checker::fail_out_of_bounds(const Touch& touch, std::uintptr_t address) {
  const auto text = [&] { return who(touch) + session_.buffers.describe_outside(address); };
  find(FindingKind::out_of_bounds, touch.place(), {}, text);
  // A store may hit what the simulator lives on, and what lies far off may be no memory at all.
  if (touch.kind == AccessKind::load && session_.buffers.is_near(address)) return;
  detail::report_failure("out of bounds: " + text());
  detail::abandon_thread();
}

unsigned Checker::member_alignment(const void* pc) {
  const auto [place, is_new] = member_alignments_.try_emplace(pc, 1);
  if (is_new) place->second = session_.member_alignment(pc);
  return place->second;
}

void Checker::close_requests() {
  for (OpenRequests& open : open_requests_) open.close(sites_);
}

void Checker::misaligned(const char* file, unsigned line, const std::string& what) {
  find(FindingKind::misaligned, {nullptr, file, line}, {},
       [&] { return block_name() + ", thread " + thread_name(current_thread->linear) + ": " + what; });
}

void Checker::index_out_of_bounds(const char* file, unsigned line, const std::string& what) {
  find(FindingKind::out_of_bounds, {nullptr, file, line}, {},
       [&] { return block_name() + ", thread " + thread_name(current_thread->linear) + " " + what; });
}

}  // namespace rooftile::simt::checked
