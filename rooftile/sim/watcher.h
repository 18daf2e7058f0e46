// What may watch a launch: the metrics and checks of sim/checked/. The executor tells what it does and knows
// nothing of what is made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>

#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {

class BlockRunner;
class GridRun;

// Bytes that an asynchronous copy reads or writes.
struct CopyRange {
  const void* address;
  std::size_t bytes;
};

// An asynchronous copy that the current thread starts. It may access
// its bytes from now on, and until who waited for it knows its end.
struct CopyIssue {
  const char* name;  // "bulk_load"
  std::source_location where;
  const std::uint64_t* mbarrier = nullptr;  // that counts its bytes; null: it belongs to the thread's groups
  bool async_proxy = true;                  // what threads wrote is seen behind fence_proxy_async alone
  bool updates = false;                     // a reduction: atomic, and what it writes it reads as well
  bool is_first = true;      // of the parts of a multicast, which read global memory once for all
  const void* pc = nullptr;  // cp.async alone, which is an instruction of all lanes
  const void* frame = nullptr;
};

// How the issuing thread learns of a copy's end: it has read, or it has written. wgmma: of a warp.
enum class CopyGroups : std::uint8_t { cp_async, bulk_read, bulk_written, wgmma };

// A warp's part of a wgmma: the rows of 16 bytes that it reads from shared memory.
struct WgmmaIssue {
  std::source_location where;
  std::span<const void* const> rows;
  // By one of the four warps: all rows that the warpgroup reads, eight at a time.
  std::span<const void* const> counted;
};
// The registers of a thread.
struct WgmmaRegisters {
  CopyRange sums;
  CopyRange a;
};

// The blocks of one OS thread, one after the other. Called on that OS thread.
class BlockWatcher {
 public:
  virtual ~BlockWatcher() = default;
  virtual void block_started(std::uint64_t linear_block) = 0;
  // All threads of the block that have not exited have arrived, and go on.
  virtual void barrier_passed(std::source_location where) = 0;
  // The lanes that took part, of those that the mask names.
  virtual void collective_passed(unsigned warp, WarpOp op, std::uint32_t mask, std::uint32_t lanes,
                                 const std::uint8_t* source_lanes, std::source_location where) = 0;
  virtual void thread_exited(const ThreadRecord& thread) = 0;
  virtual void grid_passed() = 0;
  // All threads of the block have returned.
  virtual void block_returned() = 0;

  // The executor reads or writes these bytes, at most 16, for the
  // current thread: an instruction of the kernel, at `pc`. `matrix_row`: one of ldmatrix or stmatrix.
  virtual void accessed(CopyRange range, bool writes, bool matrix_row, const void* pc, const void* frame) = 0;

  // What the current thread does to an mbarrier: it initialises it,
  // arrives there or expects bytes, has seen its phase complete.
  virtual void mbarrier_initialised(const std::uint64_t* mbarrier, std::source_location where) = 0;
  virtual void mbarrier_used(const std::uint64_t* mbarrier, std::source_location where) = 0;
  virtual void mbarrier_passed(const std::uint64_t* mbarrier, std::source_location where) = 0;
  // Around every change of its state; between the two nobody else is told of a change. `arrives`: by the
  // current thread; else bytes are expected or have landed.
  virtual void mbarrier_changes(const std::uint64_t* mbarrier, bool arrives) = 0;
  virtual void mbarrier_changed(const std::uint64_t* mbarrier, bool phase_completed) = 0;

  virtual void copy_issued(const CopyIssue& copy, std::span<const CopyRange> reads,
                           std::span<const CopyRange> writes) = 0;
  // An asynchronous copy has written these bytes.
  virtual void copy_landed(const void* target, std::size_t bytes) = 0;
  // The current thread closes a group of its copies (of bulk copies, both of reading and of writing), or
  // knows that all but its newest `pending` groups have ended.
  virtual void copies_committed(CopyGroups groups) = 0;
  virtual void copies_waited(CopyGroups groups, std::uint64_t pending, std::source_location where) = 0;
  // The current thread knows that all of its cp.async have ended, those without a group included.
  virtual void all_copies_waited(std::source_location where) = 0;
  // The current thread is about to give its registers to a wgmma, or has passed a wgmma_fence.
  virtual void wgmma_takes(const WgmmaRegisters& registers, std::source_location where) = 0;
  virtual void wgmma_fenced() = 0;
  // All lanes of the current thread's warp have issued a wgmma, or have committed a group of them.
  virtual void wgmma_issued(const WgmmaIssue& issue) = 0;
  virtual void wgmma_committed() = 0;
  // The current thread knows that the first `groups` groups of its warpgroup have ended.
  virtual void wgmma_waited(std::uint64_t groups) = 0;
  // The current thread accesses what is not aligned for it; the launch ends.
  virtual void misaligned(const char* file, unsigned line, const std::string& what) = 0;
  virtual void proxy_fenced(bool shared, bool global, std::source_location where) = 0;

  // The current thread arrives at this phase of its cluster's barrier, or has seen it complete.
  virtual void cluster_arrived(std::uint32_t phase, bool relaxed) = 0;
  virtual void cluster_passed(std::uint32_t phase, std::source_location where) = 0;

  // "kernel.cu:41" of a place in a kernel's code.
  [[nodiscard]] virtual std::string describe_code(const void* pc) = 0;

  // No lane of the warp can run: the lanes that the watcher held and lets go on now; 0 where it holds none.
  virtual std::uint32_t release_held(unsigned warp) = 0;
  // True: this barrier, fence or wait is passed as if it were not there (the mutation test).
  [[nodiscard]] virtual bool is_disabled(std::source_location where) = 0;
};

class LaunchWatcher {
 public:
  virtual ~LaunchWatcher() = default;
  virtual void launch_started(const GridRun& grid) = 0;
  // On each OS thread that takes part, before its first block and after its last.
  [[nodiscard]] virtual BlockWatcher* enter(const GridRun& grid, BlockRunner& runner) = 0;
  virtual void leave(BlockWatcher& watcher) = 0;
  // A block has failed: "deadlock: ...", with the block and thread that the text names.
  virtual void launch_failed(const std::string& what) = 0;
};

// Of the block that the calling OS thread runs; null where nobody watches.
[[nodiscard]] BlockWatcher* block_watcher();

// Whether a watcher wants what stands at this line passed over.
[[nodiscard]] bool is_disabled(std::source_location where);
// Tells the watcher, where there is one.
void note_copy(const CopyIssue& copy, CopyRange reads, CopyRange writes);

// Watches all launches from the next one on; null: none. Not while a launch runs.
void set_launch_watcher(LaunchWatcher* watcher);
[[nodiscard]] LaunchWatcher* launch_watcher();

}  // namespace rooftile::simt::detail
