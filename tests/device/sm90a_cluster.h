// Kernels of clusters, distributed shared memory and dependent launches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile {
namespace testing_sm90a {

struct Extent {
  unsigned x, y, z;
};

// What a block sees of its cluster.
struct ClusterView {
  std::uint32_t rank, blocks;
  Extent block_index, extent, cluster_index;
};

inline constexpr unsigned kClusterThreads = 64;

struct ClusterKernels {
  // One entry per block of the grid, x fastest.
  Status (*view)(StreamRef, Extent grid, Extent cluster, ClusterView* g_views);
  // Each block gets a number from its blockIdx.x; g_out[block][thread] is what the neighbour (rank + 1) holds
  // in its static shared memory plus 1000 times what the neighbour on the other side wrote into this block's
  // dynamic one.
  Status (*exchange)(StreamRef, unsigned clusters, unsigned blocks, std::uint32_t* g_out);
  // `rounds` of: every block adds its rank + 1 to a counter of every block of its cluster, between split
  // barriers; g_out[block] is the counter.
  Status (*split_barriers)(StreamRef, unsigned clusters, unsigned blocks, unsigned rounds,
                           std::uint32_t* g_out);
  // st.async of 4, 8 and 16 bytes from every block into a slot of every other (and itself); g_out[block]
  // holds blocks * 28 bytes: for each sender its 4, its 8 and its 16.
  Status (*store_async)(StreamRef, unsigned blocks, std::uint32_t* g_out);
  // All threads of all blocks write into block 0's shared memory and arrive at its barrier; it sums them up.
  Status (*remote_arrivals)(StreamRef, unsigned blocks, unsigned rounds, std::uint32_t* g_sums);
  // Each block sends `bytes` to the next by a bulk copy, as the receiver's barrier was told by the sender.
  Status (*send)(StreamRef, unsigned blocks, unsigned bytes, const std::byte* g_in, std::byte* g_out);
  // One of a chain of dependent launches: doubles every value and adds 1.
  Status (*link_of_a_chain)(StreamRef, unsigned count, std::uint32_t* g_values);
};

}  // namespace testing_sm90a

namespace sim {
testing_sm90a::ClusterKernels cluster_test_kernels();
}
namespace cuda {
testing_sm90a::ClusterKernels cluster_test_kernels();
}
}  // namespace rooftile
