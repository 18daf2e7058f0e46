// The streaming bound: how fast this device moves the same bytes in the same mix of reads and writes when it
// does nothing else. Several ways to move them are measured in the run, and the fastest is the bound: which
// one that is depends on the size and on the mix (on an H200: one vector per thread or cudaMemcpyAsync for copies from
// 64 MiB on, two vectors for two reads and a write, where small blocks are faster by 1.5 %).
//
// The mix is the same all along, as it is for an operator whose writes
// depend on its reads. All reads first and all writes after them would be up
// to a tenth faster (docs/measuring.md), and no bound for such an operator.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "rooftile/core/memory.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

// Loads, 16-byte vectors per thread, stores; and what the runtime has.
enum class StreamAccess {
  cached_x4,  // on the CPU the only one: the library's copy, or what the compiler makes of a loop
  cached_x2,
  cached_x1,        // the simplest kernel that there is
  small_blocks_x2,  // the same by blocks of 128 threads in place of 256
  small_blocks_x1,
  small_blocks_x4,  // few blocks, each with much on its way: what is moved in a few microseconds
  two_sources,  // a vector of either half of what is read, and one that is written, by blocks of 128 threads
  two_sources_wide,  // the same by 704 threads, of which two blocks fit a multiprocessor
  no_allocate_x4,    // loads that leave the L1 alone
  no_allocate_x2,
  evict_first_x2,       // loads that leave both caches first
  streaming_stores_x4,  // loads that leave the L1 alone, stores that the L2 evicts first
  runtime,              // cudaMemcpyAsync or cudaMemsetAsync
};
[[nodiscard]] std::string_view to_string(StreamAccess access);

class StreamBound {
 public:
  // Buffers for the bytes of a case. Rounded up to 16 bytes
  // each; a side below 1/256 of the other is left out.
  static Result<StreamBound> create(StreamRef stream, double read_bytes, double write_bytes);
  StreamBound() = default;

  [[nodiscard]] double bytes() const { return static_cast<double>(source_.bytes() + target_.bytes()); }
  // What is worth trying for this mix on this device; never empty.
  [[nodiscard]] const std::vector<StreamAccess>& accesses() const { return accesses_; }
  // Enqueues one pass: no allocation, no synchronisation on cuda.
  [[nodiscard]] Status launch(StreamRef stream, StreamAccess access) const;
  // Whether `run`, a pass by whatever access, writes where it should: the start, the middle and the end are looked at.
  [[nodiscard]] Status check(StreamRef stream, const std::function<Status()>& run) const;

 private:
  std::vector<StreamAccess> accesses_;
  DeviceMemory source_;
  DeviceMemory target_;
  DeviceMemory sink_;  // where a reader could leave its result, so that no load is optimised away
};

// One pass over `source` and `target`, each a multiple of
// 16 bytes, either may be empty. Without CUDA an error.
[[nodiscard]] Status stream_bound_cuda(StreamRef stream, StreamAccess access, const void* source,
                                       std::size_t source_bytes, void* target, std::size_t target_bytes,
                                       void* sink);

}  // namespace rooftile::lab
