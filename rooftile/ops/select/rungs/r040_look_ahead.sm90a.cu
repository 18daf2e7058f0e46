// Nobody waits with empty hands.
//
// Idea       warps have roles (device/sm90a/look_ahead.h). One asks the copy engine for tiles; sixteen count a tile that has
//            landed, and then write the chosen ones of one that landed three tiles ago; meanwhile one warp publishes counts,
//            and one walks along the counts of all tiles.
// Change     a resident grid that takes tiles by a ticket, a ring of tiles in shared memory, and no barrier of the block. A warp
//            sorts its part of a tile out where it lies, in the ring.
// Limits     sm_90a.
// Bottleneck DRAM; for small inputs the ring that must be filled first.
// Source     the roles: CUTLASS's warp-specialised kernels; PTX ISA, cp.async.bulk and mbarrier; the pass is scan's.
#include "rooftile/core/integers.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/look_ahead.h"
#include "rooftile/ops/select/rungs/select_device.h"

namespace rooftile::ROOFTILE_TARGET::select_rungs {
namespace {

template <class Chooser>
struct SelectTask {
  using In = typename Chooser::In;
  using Total = std::uint32_t;
  using Prefix = std::int64_t;
  static constexpr LookAheadRing kRing = select_plan::ring_of(sizeof(In));
  static constexpr int kVectors = kRing.vectors;
  static constexpr int kStageVectors = kRing.warps * kVectors * kWarpSize;
  static constexpr int kElements = kVecElements<In>;
  static constexpr int kTile = kStageVectors * kElements;

  Chooser chooser;
  Elements<In> from;
  Results<In> results;
  TileRows rows;  // one

  __device__ __forceinline__ Total identity() const { return 0; }
  __device__ __forceinline__ Total combine(Total a, Total b) const { return a + b; }
  __device__ __forceinline__ Prefix initial() const { return 0; }
  __device__ __forceinline__ Prefix extend(Prefix a, Total b) const { return a + b; }
  __device__ __forceinline__ void found(const TileAt& tile, Prefix prefix, Total total) const {
    if (tile.index == rows.tiles - 1) *results.g_count = prefix + total;
  }

  __device__ __forceinline__ TileSource source(const TileAt& tile) const {
    const std::int64_t start = start_of(tile);
    const int at = start >= 0 ? 0 : 1;  // the vector that hangs over the first element is not copied
    const std::int64_t end = (from.n - start) / kElements;
    return {from.g_in + (start + at * kElements), at,
            static_cast<int>(end < kStageVectors ? end : std::int64_t{kStageVectors}) - at};
  }
  // Counts the chosen ones, and sorts them out where they lie; of a tile that hangs over an end that is left for later.
  __device__ __forceinline__ Total total(const TileAt& tile, uint4* s_tile) const {
    const std::int64_t first = first_of(tile);
    const auto load = [&](int v, std::int64_t) { return vector_of(s_tile, v); };
    if (!is_whole(tile))
      return WarpPart<kVectors, true, Chooser, decltype(load)>(chooser, from, first, load).count();
    WarpItems<true, kVectors, Chooser> items(chooser, from, first, load);
    const Total total = items.count();
    __syncwarp();  // all lanes have what they read: the place may be written
    items.sort(items_of(s_tile), results.keeps_others);
    return total;
  }
  template <class Release>
  __device__ __forceinline__ void finish(const TileAt& tile, uint4* s_tile, Prefix prefix, Total total,
                                         Release release) const {
    const std::int64_t first = first_of(tile);
    __syncwarp();  // the warp's items are sorted out
    if (is_whole(tile)) {
      WarpItems<true, kVectors, Chooser>::write(items_of(s_tile), total, from, first, prefix, results);
    } else {
      const auto load = [&](int v, std::int64_t) { return vector_of(s_tile, v); };
      WarpPart<kVectors, true, Chooser, decltype(load)>(chooser, from, first, load)
          .give(items_of(s_tile), prefix, results);
    }
    fence_proxy_async<FenceSpace::shared_block>();  // what was written here, and the copy that comes next
    release();
  }

 private:
  static constexpr int kWarpItems = kTile / kRing.warps;

  // The tile's first element, which may stand in front of the vector.
  [[nodiscard]] __device__ __forceinline__ std::int64_t start_of(const TileAt& tile) const {
    return tile.index * kTile - from.skew();
  }
  // The warp's.
  [[nodiscard]] __device__ __forceinline__ std::int64_t first_of(const TileAt& tile) const {
    return start_of(tile) + warp_index() * kWarpItems;
  }
  [[nodiscard]] __device__ __forceinline__ bool is_whole(const TileAt& tile) const {
    const std::int64_t start = start_of(tile);
    return start >= 0 && start + kTile <= from.n;
  }
  // The warp's part of the stage.
  [[nodiscard]] __device__ __forceinline__ static In (&items_of(uint4* s_tile))[kWarpItems] {
    return *reinterpret_cast<In(*)[kWarpItems]>(s_tile + warp_index() * (kVectors * kWarpSize));
  }
  [[nodiscard]] __device__ __forceinline__ static Vec<In, kElements> vector_of(const uint4* s_tile, int v) {
    Vec<In, kElements> vec;
    const uint4 raw = s_tile[(warp_index() * kVectors + v) * kWarpSize + lane_index()];
    memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
    return vec;
  }
};

template <class Task>
__global__ void __launch_bounds__(kLookAheadThreads<Task>, 1)
    look_ahead_kernel(const __grid_constant__ Task task, std::uint32_t* g_tickets, void* g_states) {
  ROOFTILE_DYN_SHARED(uint4, s_ring);
  __shared__ LookAheadShared<Task> s;
  const LookAheadMemory<std::uint32_t> totals{g_tickets, {g_states, nullptr}};
  LookAhead<Task>(task, task.rows, totals, s_ring, s).run();
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SelectArgs>& call) {
  return dispatch_all(call.args, [&]<class Chooser>(const Chooser& chooser) {
    using Task = SelectTask<Chooser>;
    using In = typename Chooser::In;
    const std::int64_t tiles = call.config<select_plan::Cut>().tiles;
    return launch(
        look_ahead_kernel<Task>,
        {.grid = dim3(static_cast<unsigned>(smaller(tiles, std::int64_t{call.device.multiprocessors}))),
         .block = dim3(kLookAheadThreads<Task>),
         .shared_bytes = kLookAheadSharedBytes<Task>,
         .stream = call.stream},
        Task{chooser, elements_of<In>(call.args), results_of<In>(call.args), {1, tiles}},
        static_cast<std::uint32_t*>(call.workspace.zeroed),
        static_cast<void*>(static_cast<char*>(call.workspace.zeroed) + kLookAheadTicketBytes));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::select_rungs
