// No trip to memory.
//
// Idea       a cluster per row, a tile to each of its blocks: every block writes its total into the shared memory of those
//            behind it.
// Change     what stands in front of a tile comes through shared memory: nothing is published, and nothing has to be zero again.
// Limits     sm_90a; rows of at most 16 tiles (256 KiB). More than 8 tiles ask for a cluster that not every GPU has: H100 and H200 do.
// Bottleneck latency: launch, load, the cluster's two barriers, store.
// Source     PTX ISA, distributed shared memory.
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/ops/scan/rungs/tile_rungs.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {
namespace {

template <class Acc>
struct ClusterShared {
  TileShared<Acc> tile;
  Acc totals[scan_plan::kClusterTiles];  // of the tiles in front
};

template <class Scan>
__global__ void __launch_bounds__(kTileThreads)
    cluster_rows_kernel(const typename Scan::In* g_in, typename Scan::Out* g_out, std::int64_t length,
                        Scan scan, bool exclusive, typename Scan::Acc initial) {
  using Acc = typename Scan::Acc;
  constexpr bool kEarly = sizeof(typename Scan::In) > 1;  // of bytes it takes twice as many registers
  __shared__ ClusterShared<Acc> s;
  const auto combine = [&](const Acc& a, const Acc& b) { return scan.combine(a, b); };
  const unsigned tile = cluster_rank();
  const unsigned tiles = cluster_blocks();
  cluster_arrive_relaxed();
  const auto place = RowPlace<Scan>::of(g_in, g_out, blockIdx.x / tiles, length);
  const std::int64_t first = tile * kTileElements<Scan> - place.skew;
  const auto prefix_of = [&](const Acc& total, auto meanwhile) {
    cluster_wait();  // all blocks have started
    if (threadIdx.x > tile && threadIdx.x < tiles) map_shared_rank(&s, threadIdx.x)->totals[tile] = total;
    cluster_arrive();
    meanwhile();
    cluster_wait();  // the totals are there, and nobody writes into another block any more
    const auto lane = static_cast<unsigned>(lane_index());
    return combine(initial, fold_lanes(lane < tile ? s.totals[lane] : scan.identity(), combine));
  };
  if (first >= 0 && first + kTileElements<Scan> <= length) {
    scan_tile<true, scan_plan::kVectors, kEarly>(scan, place, first, exclusive, s.tile, prefix_of);
  } else {
    scan_tile<false, scan_plan::kVectors, kEarly>(scan, place, first, exclusive, s.tile, prefix_of);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_scans(call.args, [&]<class Scan>(const Scan& scan) -> Status {
    const auto& cut = call.config<scan_plan::Cut>();
    if (cut.rows.count == 0) return {};
    if (cut.rows.count > kMaxGrid / cut.tiles) return unsupported("more than 2^31 - 1 blocks");
    return launch(cluster_rows_kernel<Scan>,
                  {.grid = dim3(static_cast<unsigned>(cut.rows.count * cut.tiles)),
                   .block = dim3(kTileThreads),
                   .stream = call.stream,
                   .cluster = dim3(static_cast<unsigned>(cut.tiles))},
                  static_cast<const typename Scan::In*>(call.args.in.data),
                  static_cast<typename Scan::Out*>(call.args.out.data), cut.rows.length, scan,
                  call.args.exclusive, scan.initial(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
