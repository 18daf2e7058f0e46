// Nobody waits with empty hands.
//
// Idea       warps have roles (device/sm90a/look_ahead.h). One asks the copy engine for tiles; fourteen sum up a tile that has
//            landed, and then scan one that landed four tiles ago; meanwhile one warp publishes totals, and one walks along
//            the totals of all tiles.
// Change     a resident grid that takes tiles by a ticket, a ring of tiles in shared memory, and no barrier of the block:
//            loads, sums, looking back and stores of different tiles run at the same time. A block reads each total
//            once, where a tile of tree_lookback waits for a round trip on every level.
// Limits     sm_90a.
// Bottleneck DRAM; for small inputs the ring that must be filled first.
// Source     the roles: CUTLASS's warp-specialised kernels; PTX ISA, cp.async.bulk and mbarrier.
#include "rooftile/core/integers.h"
#include "rooftile/device/sm90a/look_ahead.h"
#include "rooftile/ops/scan/rungs/tile_rungs.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {
namespace {

template <class Scan>
struct ScanTask {
  using In = typename Scan::In;
  using Total = typename Scan::Acc;
  using Prefix = Total;
  static constexpr LookAheadRing kRing = scan_plan::ring_of(sizeof(In));
  static constexpr int kVectors = kRing.vectors;
  static constexpr int kStageVectors = kRing.warps * kVectors * kWarpSize;
  static constexpr int kElements = kVecElements<In>;
  static constexpr int kTile = kStageVectors * kElements;

  Scan scan;
  const In* g_in;
  typename Scan::Out* g_out;
  TileRows rows;
  std::int64_t length;  // of a row
  bool exclusive;
  Total first;

  __device__ __forceinline__ Total identity() const { return scan.identity(); }
  __device__ __forceinline__ Total combine(const Total& a, const Total& b) const {
    return scan.combine(a, b);
  }
  __device__ __forceinline__ Total initial() const { return first; }
  __device__ __forceinline__ Total extend(const Total& a, const Total& b) const { return scan.combine(a, b); }
  __device__ __forceinline__ void found(const TileAt&, const Total&, const Total&) const {}

  __device__ __forceinline__ TileSource source(const TileAt& tile) const {
    const RowPlace<Scan> place = place_of(tile);
    const std::int64_t start = start_of(tile, place);
    const int at = start >= 0 ? 0 : 1;  // the vector that hangs over the row's first element is not copied
    const std::int64_t end = (place.length - start) / kElements;
    return {place.g_in + (start + at * kElements), at,
            static_cast<int>(end < kStageVectors ? end : std::int64_t{kStageVectors}) - at};
  }
  __device__ __forceinline__ Total total(const TileAt& tile, const uint4* s_tile) const {
    const Part part(*this, tile, s_tile);
    if (part.is_whole) return part.template vectors<true, kVectors>(0).total();
    Total sum = identity();
#pragma unroll 1
    for (int v = 0; v < kVectors; ++v) sum = combine(sum, part.template vectors<false, 1>(v).total());
    return sum;
  }
  template <class Release>
  __device__ __forceinline__ void finish(const TileAt& tile, const uint4* s_tile, Total prefix, const Total&,
                                         Release release) const {
    const Part part(*this, tile, s_tile);
    if (part.is_whole) {
      auto vectors = part.template vectors<true, kVectors>(0);
      release();
      vectors.fold();
      vectors.give(prefix, exclusive);
      return;
    }
#pragma unroll 1
    for (int v = 0; v < kVectors; ++v) {
      auto vectors = part.template vectors<false, 1>(v);
      const Total sum = vectors.fold();
      vectors.give(prefix, exclusive);
      prefix = combine(prefix, sum);
    }
    release();
  }

 private:
  // A warp's part of a tile. Of one that hangs over an end of its row a vector of each lane at a time: little code for what is
  // rare.
  struct Part {
    const Scan& scan;
    RowPlace<Scan> place;
    std::int64_t first;  // the part's first element in the row
    bool is_whole;
    const uint4* s_mine;

    __device__ __forceinline__ Part(const ScanTask& task, const TileAt& tile, const uint4* s_tile)
        : scan(task.scan),
          place(task.place_of(tile)),
          first(task.start_of(tile, place)),
          is_whole(first >= 0 && first + kTile <= place.length),
          s_mine(s_tile + warp_index() * (kVectors * kWarpSize) + lane_index()) {
      first += warp_index() * (kTile / kRing.warps);
    }
    // kCount of each lane's, number v of them in front.
    template <bool kWhole, int kCount>
    [[nodiscard]] __device__ __forceinline__ LaneVectors<kWhole, kCount, Scan> vectors(int v) const {
      return LaneVectors<kWhole, kCount, Scan>(scan, place, first + v * (kWarpSize * kElements),
                                               [&](int i, std::int64_t) {
                                                 Vec<In, kElements> vec;
                                                 const uint4 raw = s_mine[(v + i) * kWarpSize];
                                                 memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
                                                 return vec;
                                               });
    }
  };

  [[nodiscard]] __device__ __forceinline__ RowPlace<Scan> place_of(const TileAt& tile) const {
    return RowPlace<Scan>::of(g_in, g_out, tile.row, length);
  }
  // The tile's first element in its row, which may stand in front of it.
  [[nodiscard]] __device__ __forceinline__ std::int64_t start_of(const TileAt& tile,
                                                                 const RowPlace<Scan>& place) const {
    return tile.index * kTile - place.skew;
  }
};

template <class Task>
__global__ void __launch_bounds__(kLookAheadThreads<Task>, 1)
    look_ahead_kernel(const __grid_constant__ Task task, NodeMemory memory) {
  ROOFTILE_DYN_SHARED(uint4, s_ring);
  __shared__ LookAheadShared<Task> s;
  const LookAheadMemory<typename Task::Total> totals{memory.g_ticket, {memory.g_states, memory.g_values}};
  LookAhead<Task>(task, task.rows, totals, s_ring, s).run();
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_scans(call.args, [&]<class Scan>(const Scan& scan) {
    using Task = ScanTask<Scan>;
    const auto& cut = call.config<scan_plan::Cut>();
    const std::int64_t blocks =
        smaller(cut.rows.count * cut.tiles, std::int64_t{call.device.multiprocessors});
    return launch(look_ahead_kernel<Task>,
                  {.grid = dim3(static_cast<unsigned>(blocks)),
                   .block = dim3(kLookAheadThreads<Task>),
                   .shared_bytes = kLookAheadSharedBytes<Task>,
                   .stream = call.stream},
                  Task{scan,
                       static_cast<const typename Scan::In*>(call.args.in.data),
                       static_cast<typename Scan::Out*>(call.args.out.data),
                       {cut.rows.count, cut.tiles},
                       cut.rows.length,
                       call.args.exclusive,
                       scan.initial(call.args)},
                  NodeMemory(call.workspace));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
