// What a kernel can ask about its own thread, and the calls by which it enters the executor.
//
// Everything here is for code that runs inside a launch.
// Calls that wait switch to another thread of the block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include "rooftile/sim/vector_types.h"

// What stands in for hardware is no access of the kernel's: instrumented builds leave such functions out.
#if defined(ROOFTILE_SIM_CHECKED)
#define ROOFTILE_SIM_UNWATCHED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#else
#define ROOFTILE_SIM_UNWATCHED
#endif

namespace rooftile::simt {

namespace detail {

struct Fiber;

struct alignas(64) ThreadRecord {  // a cache line of its own: a switch touches it
  uint3 index{};
  std::uint16_t linear = 0;
  std::uint8_t lane = 0;
  std::uint8_t warp = 0;
  std::uint32_t polls = 0;  // polling operations so far
  Fiber* fiber = nullptr;   // null before it starts and after it exits
  // The intrinsic that it waits in, and its source line; not
  // kept for block barriers, where all wait at one line.
  const char* waits_at = "";
  std::source_location where{};
  const void* waits_pc = nullptr;           // where it waits, of what knows no source line
  const std::uint64_t* waits_on = nullptr;  // the mbarrier, where it waits at one
  std::uint32_t cluster_phase = 0;          // of the cluster's barrier that it arrived at last
  bool cluster_arrived = false;             // and has not waited for
  bool mbarriers_fenced = false;            // since it arrived last
};

struct BlockRecord {
  uint3 index{};
  dim3 block_dim;
  dim3 grid_dim;
  std::size_t dynamic_shared_bytes = 0;
  void* dynamic_shared = nullptr;
  bool cooperative = false;
  uint3 cluster_index{};  // of the block in its cluster
  dim3 cluster_dim{1};    // blocks
  unsigned cluster_rank = 0;
  std::atomic<std::uint64_t> progress{0};  // written by the block's OS thread, read by the watchdog of others
};

// Null outside a launch.
extern constinit thread_local ThreadRecord* current_thread;
extern constinit thread_local BlockRecord* current_block;

// The OS thread's fibers never move to another OS thread
// within a launch, so that these may be kept in registers.
ROOFTILE_SIM_UNWATCHED inline uint3 thread_index() { return current_thread->index; }
ROOFTILE_SIM_UNWATCHED inline uint3 block_index() { return current_block->index; }
ROOFTILE_SIM_UNWATCHED inline dim3 block_extent() { return current_block->block_dim; }
ROOFTILE_SIM_UNWATCHED inline dim3 grid_extent() { return current_block->grid_dim; }
ROOFTILE_SIM_UNWATCHED inline void* dynamic_shared() { return current_block->dynamic_shared; }

enum class BarrierOp : std::uint8_t { plain, count, all, any };
int block_barrier(BarrierOp op, bool predicate, std::source_location where);

enum class WarpOp : std::uint8_t {
  sync,
  shuffle_index,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
  match_any,
  match_all,
  add_unsigned,
  min_unsigned,
  max_unsigned,
  add_signed,
  min_signed,
  max_signed,
  bit_and,
  bit_or,
  bit_xor,
  load_matrix,  // wmma_warp.h: the operand is the address of a MatrixStep
  store_matrix,
  multiply_matrices,
  mma_sync,  // of device/sm80/mma.h
  ldmatrix,
  stmatrix,
  wgmma,
  wgmma_fence,
  wgmma_commit,
  wgmma_wait,
  setmaxnreg,
};

// An instruction of all 32 lanes (wmma_warp.h): they cannot do without one that has exited.
constexpr bool is_matrix_op(WarpOp op) { return op >= WarpOp::load_matrix; }

// What a lane gets from a shuffle whose source lane is outside the mask or has exited: a NaN in every float
// format, and no small integer.
inline constexpr std::uint64_t kPoison = 0xfff7fff7fff7fff7u;

// Waits for all lanes of `mask` that have not exited. `source_lane` matters to shuffles alone.
std::uint64_t warp_collective(WarpOp op, unsigned mask, std::uint64_t operand, unsigned source_lane,
                              std::source_location where);

// Waits until no other lane of the warp can run: the lanes that wait at the same line.
std::uint32_t active_lanes(std::source_location where);

void grid_barrier(std::source_location where);

// Lets the others run: other threads of the block at once, other blocks by the operating system.
void poll(const char* operation, std::source_location where);

// An operation by which a kernel may poll: every 64th of a thread lets the others run.
ROOFTILE_SIM_UNWATCHED inline void may_poll(const char* operation, std::source_location where) {
  if ((++current_thread->polls & 63u) == 0) poll(operation, where);
}

// Memory that another thread may be waiting for has changed.
ROOFTILE_SIM_UNWATCHED inline void note_progress() {
  auto& progress = current_block->progress;
  progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Around one atomic read-modify-write of the kernel at `pc`: for the watcher of checked builds.
void atomic_begins(const void* address, unsigned bytes, const void* pc);
void atomic_ends(const void* address, const void* pc);

// The same for atomics with a memory order (__ATOMIC_ACQUIRE ...), which may load or store alone.
enum class AtomicKind : std::uint8_t { load, store, update };
struct AtomicAccess {
  const void* address;
  unsigned bytes;
  AtomicKind kind;
  int order;
  const void* pc;
};
void atomic_begins(const AtomicAccess& access);
void atomic_ends(const AtomicAccess& access);

// Ends the launch with a Status that names block and thread: first the report, "<what>" or "<what> at
// kernel.cu:41", then the thread is left where it stands. Two calls, because nothing on an abandoned stack is
// ever destroyed: text has to be gone before.
void report_failure(const std::string& what);
void report_failure(const std::string& what, std::source_location where);
[[noreturn]] void abandon_thread();

}  // namespace detail
}  // namespace rooftile::simt
