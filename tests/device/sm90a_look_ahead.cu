#include "tests/device/sm90a_look_ahead.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/look_ahead.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

struct SumTask {
  using Total = std::uint32_t;
  using Prefix = std::uint64_t;
  static constexpr LookAheadRing kRing{.warps = kLookAheadScanners, .vectors = 1, .stages = 4, .ahead = 2};
  static_assert(kRing.tile_bytes() == kLookAheadTile * sizeof(std::uint32_t));

  const std::uint32_t* g_in;
  TileRows rows;
  std::uint64_t* g_parts;
  std::uint64_t* g_tiles;
  std::uint32_t* g_out;

  __device__ Total identity() const { return 0; }
  __device__ Total combine(Total a, Total b) const { return a + b; }
  __device__ Prefix initial() const { return 1000; }
  __device__ Prefix extend(Prefix a, Total b) const { return a + b; }
  __device__ TileSource source(const TileAt& tile) const {
    return {g_in + number(tile) * kLookAheadTile, 0, kLookAheadTile / 4};
  }
  __device__ Total total(const TileAt&, const uint4* s_tile) const {
    const uint4 words = s_tile[threadIdx.x];
    return warp_reduce(words.x + words.y + words.z + words.w, [](Total a, Total b) { return a + b; });
  }
  template <class Release>
  __device__ void finish(const TileAt& tile, const uint4* s_tile, Prefix prefix, Total mine,
                         Release release) const {
    const uint4 words = s_tile[threadIdx.x];
    const bool is_as_before = mine == total(tile, s_tile);
    release();
    if (lane_index() == 0 && is_as_before) g_parts[number(tile) * kLookAheadScanners + warp_index()] = prefix;
    std::uint32_t* g_mine = g_out + number(tile) * kLookAheadTile + threadIdx.x * 4;
    g_mine[0] = words.x + 1;
    g_mine[1] = words.y + 1;
    g_mine[2] = words.z + 1;
    g_mine[3] = words.w + 1;
  }
  __device__ void found(const TileAt& tile, Prefix prefix, Total total) const {
    g_tiles[2 * number(tile)] = prefix;
    g_tiles[2 * number(tile) + 1] = total;
  }

 private:
  [[nodiscard]] __device__ std::int64_t number(const TileAt& tile) const {
    return tile.row * rows.tiles + tile.index;
  }
};

__global__ void __launch_bounds__(kLookAheadThreads<SumTask>)
    sums_kernel(SumTask task, std::uint32_t* g_tickets, void* g_states) {
  ROOFTILE_DYN_SHARED(uint4, s_ring);
  __shared__ LookAheadShared<SumTask> s;
  const LookAheadMemory<std::uint32_t> memory{g_tickets, {g_states, nullptr}};
  LookAhead<SumTask>(task, task.rows, memory, s_ring, s).run();
}

Status sums(StreamRef stream, const std::uint32_t* g_in, std::int64_t rows, std::int64_t tiles,
            unsigned blocks, const Workspace& workspace, std::uint64_t* g_parts, std::uint64_t* g_tiles,
            std::uint32_t* g_out) {
  return launch(sums_kernel,
                {.grid = dim3(blocks),
                 .block = dim3(kLookAheadThreads<SumTask>),
                 .shared_bytes = kLookAheadSharedBytes<SumTask>,
                 .stream = stream},
                SumTask{g_in, {rows, tiles}, g_parts, g_tiles, g_out},
                static_cast<std::uint32_t*>(workspace.zeroed),
                static_cast<void*>(static_cast<char*>(workspace.zeroed) + kLookAheadTicketBytes));
}

}  // namespace

LookAheadKernels look_ahead_test_kernels() { return {sums}; }

}  // namespace rooftile::ROOFTILE_TARGET
