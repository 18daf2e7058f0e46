// What a watched run has to tell, by source line. For hosts: no CUDA names in here.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rooftile::simt::checked {

struct SourceLine {
  std::string file;  // from the root of the tree; empty where it is not known
  unsigned line = 0;
  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};
[[nodiscard]] std::string to_string(const SourceLine& line);  // "kernel.cu:41"

enum class AccessKind : std::uint8_t {
  load,
  store,
  atomic,
  async_copy,  // cp.async by warps; bulk copies and tiles by the copy, without lanes
};
[[nodiscard]] const char* to_string(AccessKind kind);
enum class MemorySpace : std::uint8_t { global, shared, constant };
[[nodiscard]] const char* to_string(MemorySpace space);

// Sums over the requests of one kind: a request is one memory instruction of one warp.
struct AccessCounts {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;  // active ones
  unsigned lane_bytes = 0;  // of the widest access
  // Global memory: 32-byte sectors moved, and those that would hold the distinct bytes; 128-byte lines.
  std::uint64_t sectors = 0;
  std::uint64_t ideal_sectors = 0;
  std::uint64_t lines = 0;
  // Shared memory: passes of the banks, and what they would be without a conflict. Constant memory: different
  // words, and what they would be if all lanes read at one address.
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal_wavefronts = 0;
  unsigned worst_conflict = 0;
  // Atomics: lanes of a request with the same address, the largest of each request.
  std::uint64_t multiplicity = 0;
  unsigned worst_multiplicity = 0;
  // Bytes from lane to lane, while all requests agree.
  std::optional<std::int64_t> lane_stride;
  bool strides_differ = false;

  void add(const AccessCounts& other);

  [[nodiscard]] double lanes_per_request() const;
  [[nodiscard]] double sectors_per_request() const;
  [[nodiscard]] double ideal_sectors_per_request() const;
  [[nodiscard]] double conflict_degree() const;  // 1: none
  [[nodiscard]] double mean_multiplicity() const;
};

struct LineAccesses {
  SourceLine at;
  AccessKind kind = AccessKind::load;
  MemorySpace space = MemorySpace::global;
  AccessCounts counts;
};

// A barrier, a shuffle, a fence.
struct LineSyncs {
  SourceLine at;
  std::string name;         // "__syncthreads"
  std::uint64_t count = 0;  // warp-wide for collectives, block-wide for barriers
  std::uint64_t lanes = 0;
};

enum class FindingKind : std::uint8_t {
  race,
  same_value,  // a race of stores of one value: a remark
  uninitialised,
  out_of_bounds,
  misaligned,
  read_only_write,      // into an input
  missing_proxy_fence,  // a bulk copy of what a thread wrote, without fence_proxy_async between
  missing_wgmma_fence,  // registers that a thread touched and a wgmma takes, without wgmma_fence between
  registers_in_use,     // by a wgmma that was not waited for, when a thread touches them
  left_cluster,         // a block returned while others used its shared memory
  shuffle_source,       // a lane reads from one that has exited or is not in the mask
  divergent_barrier,
  deadlock,
  failure,  // any other end of a launch: an assertion, a trap, a misused collective
};
[[nodiscard]] const char* to_string(FindingKind kind);

// One mistake, however often it happened: the first time is told.
struct Finding {
  FindingKind kind = FindingKind::failure;
  std::string kernel;
  SourceLine at;
  SourceLine other;  // the earlier access of a race
  std::string what;  // one line: memory, block, threads
  std::uint64_t count = 0;
};

struct KernelRuns {
  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;   // of all launches
  std::uint64_t threads = 0;  // of a block of the largest launch
  bool at_once = false;       // its blocks run at once: of a cluster, or of a cooperative launch
};

struct Report {
  std::vector<KernelRuns> kernels;     // in launch order
  std::vector<LineAccesses> accesses;  // by line; empty without metrics
  std::vector<LineSyncs> syncs;
  std::vector<Finding> findings;
  // No mistakes, but worth knowing: same_value.
  std::vector<Finding> remarks;
  // Divergence: basic blocks that warps executed, and the lanes that were active in them.
  std::uint64_t basic_blocks = 0;
  std::uint64_t basic_block_lanes = 0;
  std::uint64_t instrumented_accesses = 0;  // of kernels, local memory included

  [[nodiscard]] AccessCounts total(MemorySpace space, AccessKind kind) const;
  [[nodiscard]] AccessCounts total() const;  // of what threads do: without asynchronous copies
  [[nodiscard]] double bytes_moved() const;  // to and from global memory
};

}  // namespace rooftile::simt::checked
