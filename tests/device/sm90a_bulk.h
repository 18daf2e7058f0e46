// Kernels of bulk copies and mbarriers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile {
namespace testing_sm90a {

enum class BulkOp { add, min, max };

struct BulkKernels {
  // out = in, `bytes` per block, through shared memory by a bulk load and a bulk store.
  Status (*copy)(StreamRef, const std::byte* g_in, unsigned blocks, unsigned bytes, std::byte* g_out);
  // The same, once more through global memory: the block writes g_scratch, and loads it from there.
  Status (*through_global)(StreamRef, const std::byte* g_in, unsigned bytes, std::byte* g_scratch,
                           std::byte* g_out);
  // The same by a ring of buffers of `chunk` bytes, one block, a producer thread ahead of the consumers. The
  // output is the input XORed with `mask`.
  Status (*ring)(StreamRef, const std::byte* g_in, unsigned chunks, unsigned chunk, unsigned mask,
                 std::byte* g_out);
  // Clusters of `blocks`: block 0 loads `bytes` for the blocks named by `mask` (itself included or not);
  // every block writes what it has: the bytes, or 0xee where it is not named.
  Status (*multicast)(StreamRef, const std::byte* g_in, unsigned blocks, unsigned mask, unsigned bytes,
                      std::byte* g_out);
  // Each of `blocks` blocks combines the same `count` elements into g_out.
  Status (*reduce)(StreamRef, BulkOp, DType, const void* g_in, unsigned count, unsigned blocks, void* g_out);
  // The phases of an mbarrier, step by step; a word per step, 1 where the wait let it pass.
  Status (*phases)(StreamRef, std::uint32_t* g_passed);
  // All threads of the block but one arrive `rounds` times, some of them for two; the one sums what they
  // wrote before each arrival.
  Status (*arrivals)(StreamRef, unsigned rounds, std::uint32_t* g_sums);
};

inline constexpr int kPhaseSteps = 8;
inline constexpr unsigned kArrivingThreads = 63;

}  // namespace testing_sm90a

namespace sim {
testing_sm90a::BulkKernels bulk_test_kernels();
}
namespace cuda {
testing_sm90a::BulkKernels bulk_test_kernels();
}
}  // namespace rooftile
