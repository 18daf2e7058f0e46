// Kernels that move tiles, one tile per block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/tensor_map_spec.h"

namespace rooftile {
namespace testing_sm90a {

struct TileAt {
  std::int32_t c[kMaxTensorMapRank];
};

enum class Reduction { add, min, max };

struct TmaKernels {
  // Tiles of the tensor at g_at, as they lie in shared memory, to g_tiles.
  Status (*load)(StreamRef, const TensorMapSpec&, const TileAt* g_at, unsigned tiles, std::byte* g_tiles);
  // The opposite.
  Status (*store)(StreamRef, const TensorMapSpec&, const TileAt* g_at, unsigned tiles,
                  const std::byte* g_tiles);
  // Combines into the tensor.
  Status (*reduce)(StreamRef, Reduction, const TensorMapSpec&, const TileAt* g_at, unsigned tiles,
                   const std::byte* g_tiles);
  // Clusters of `blocks`: block r of a cluster loads tile r for all of them, and writes all tiles that it
  // got.
  Status (*multicast)(StreamRef, const TensorMapSpec&, const TileAt* g_at, unsigned blocks,
                      std::byte* g_tiles);
  // A ring of `stages` buffers: tiles in, every byte of a tile XORed with `mask`, tiles out to the same
  // places of `out`; all by one block.
  Status (*ring)(StreamRef, const TensorMapSpec& in, const TensorMapSpec& out, const TileAt* g_at,
                 unsigned tiles, unsigned mask);
};

}  // namespace testing_sm90a

namespace sim {
testing_sm90a::TmaKernels tma_test_kernels();
}
namespace cuda {
testing_sm90a::TmaKernels tma_test_kernels();
}
}  // namespace rooftile
