// Nobody waits with empty hands.
//
// Idea       warps have roles. One takes tiles and asks the copy engine for them; eight sum up a tile that has landed, and
//            then scan one that landed five tiles ago; meanwhile one warp publishes totals, and one finds out what stands in
//            front of the tiles in between.
// Change     a resident grid that takes tiles by a ticket, a ring of 12 tiles in shared memory, and no barrier of the block:
//            loads, sums, looking back and stores of different tiles run at the same time.
// Limits     sm_90a.
// Bottleneck DRAM; for small inputs the ring that must be filled first.
// Source     the roles: CUTLASS's warp-specialised kernels; PTX ISA, cp.async.bulk and mbarrier; the tree: tree_lookback.

#include "rooftile/core/integers.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/ops/scan/rungs/tile_rungs.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {
namespace {

constexpr int kStages = scan_plan::kRingStages;
constexpr int kAhead = scan_plan::kAhead;
constexpr int kVectors = scan_plan::kLargeVectors;
constexpr int kScanners = scan_plan::kTileWarps;  // warps
constexpr int kTaker = kScanners;                 // the warps behind them
constexpr int kPublisher = kScanners + 1;
constexpr int kFinder = kScanners + 2;
constexpr int kThreads = (kScanners + 3) * kWarpSize;
constexpr int kStageVectors = kTileThreads * kVectors;
constexpr std::int64_t kNoTile = -1;

// What a stage of the ring carries beside its tile.
template <class Acc>
struct RingShared {
  Mbarrier full[kStages];    // the tile has landed, and its number
  Mbarrier summed[kStages];  // every scanner's total is there
  Mbarrier ready[kStages];   // every scanner's prefix is there
  Mbarrier empty[kStages];   // nobody reads the stage any more
  std::int64_t tile[kStages];
  Acc totals[kStages][kScanners];
  Acc prefixes[kStages][kScanners];
  bool is_last;
};

// A place in the ring that walks from tile to tile.
struct RingPlace {
  int stage = 0;
  std::uint32_t parity = 0;
  __device__ __forceinline__ void step() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1u;
    }
  }
};

template <class Scan>
struct Tiles {
  using In = typename Scan::In;
  static constexpr int kElements = kVecElements<In>;
  static constexpr std::int64_t kTileElements = std::int64_t{kStageVectors} * kElements;
  static constexpr int kWarpElements = kWarpSize * kVectors * kElements;

  const In* g_in;
  typename Scan::Out* g_out;
  const scan_plan::Cut& cut;

  [[nodiscard]] __device__ __forceinline__ std::int64_t row_of(std::int64_t tile) const {
    return tile / cut.tiles;
  }
  [[nodiscard]] __device__ __forceinline__ RowPlace<Scan> place(std::int64_t tile) const {
    return RowPlace<Scan>::of(g_in, g_out, row_of(tile), cut.rows.length);
  }
  // Of a tile of this row: its first element, which may stand in front of the row.
  [[nodiscard]] __device__ __forceinline__ std::int64_t first(std::int64_t tile,
                                                              const RowPlace<Scan>& place) const {
    return tile % cut.tiles * kTileElements - place.skew;
  }
};

// Takes tiles until there are none, and asks for what of them is whole vectors. One thread.
template <class Scan>
__device__ __forceinline__ void take_tiles(const Tiles<Scan>& tiles, RingShared<typename Scan::Acc>& s,
                                           uint4* s_ring, std::uint32_t* g_taken) {
  using In = typename Scan::In;
  constexpr int kElements = Tiles<Scan>::kElements;
  const std::int64_t count = tiles.cut.rows.count * tiles.cut.tiles;
  RingPlace at;
  for (int taken = 0;; ++taken) {
    const std::int64_t tile = atomicAdd(g_taken, 1u);  // on its way while the stage empties
    if (taken >= kStages) mbarrier_wait(&s.empty[at.stage], at.parity ^ 1u);
    if (tile >= count) {
      s.tile[at.stage] = kNoTile;
      mbarrier_arrive(&s.full[at.stage]);
      return;
    }
    s.tile[at.stage] = tile;
    const RowPlace<Scan> place = tiles.place(tile);
    const std::int64_t first = tiles.first(tile, place);
    const std::int64_t begin = first >= 0 ? 0 : 1;  // the vector that hangs over the row's first element
    const std::int64_t end = (place.length - first) / kElements;
    const std::int64_t vectors = (end < kStageVectors ? end : std::int64_t{kStageVectors}) - begin;
    if (vectors <= 0) {
      mbarrier_arrive(&s.full[at.stage]);
    } else {
      const auto bytes = static_cast<std::uint32_t>(vectors * kVecBytes);
      const In* g_first = place.g_in + (first + begin * kElements);
      mbarrier_arrive_expect_tx(&s.full[at.stage], bytes);
      bulk_load(s_ring + at.stage * kStageVectors + begin, g_first, bytes, &s.full[at.stage]);
    }
    at.step();
  }
}

// This warp's vectors of a tile that has landed.
template <bool kWhole, class Scan>
__device__ __forceinline__ auto vectors_of(const Scan& scan, const RowPlace<Scan>& place, std::int64_t first,
                                           const uint4* s_tile) {
  const uint4* s_mine = s_tile + warp_index() * (kVectors * kWarpSize) + lane_index();
  return LaneVectors<kWhole, kVectors, Scan>(scan, place, first + warp_index() * Tiles<Scan>::kWarpElements,
                                             [&](int v, std::int64_t) {
                                               Vec<typename Scan::In, Tiles<Scan>::kElements> vec;
                                               const uint4 raw = s_mine[v * kWarpSize];
                                               memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
                                               return vec;
                                             });
}

// Calls body(std::true_type or std::false_type): whether all of a tile's elements are the row's.
template <class Scan, class Body>
__device__ __forceinline__ void whole_or_not(const RowPlace<Scan>& place, std::int64_t first, Body body) {
  if (first >= 0 && first + Tiles<Scan>::kTileElements <= place.length) {
    body(std::true_type{});
  } else {
    body(std::false_type{});
  }
}

template <class Scan>
__device__ __forceinline__ void scan_tiles(const Scan& scan, const Tiles<Scan>& tiles,
                                           RingShared<typename Scan::Acc>& s, const uint4* s_ring,
                                           bool exclusive) {
  const int lane = lane_index();
  const int warp = warp_index();
  RingPlace ahead;   // the tile that is summed up
  RingPlace behind;  // and the one that is scanned
  bool has_ended = false;
  int waiting = 0;  // tiles between the two
  while (!has_ended || waiting > 0) {
    if (!has_ended) {
      mbarrier_wait(&s.full[ahead.stage], ahead.parity);
      const std::int64_t tile = s.tile[ahead.stage];
      has_ended = tile == kNoTile;
      if (!has_ended) {
        const RowPlace<Scan> place = tiles.place(tile);
        const std::int64_t first = tiles.first(tile, place);
        whole_or_not(place, first, [&](auto whole) {
          auto vectors = vectors_of<whole>(scan, place, first, s_ring + ahead.stage * kStageVectors);
          const auto total = vectors.fold();
          if (lane == 0) {
            s.totals[ahead.stage][warp] = total;
            mbarrier_arrive(&s.summed[ahead.stage]);
          }
        });
        ++waiting;
        ahead.step();
      }
    }
    if (waiting > (has_ended ? 0 : kAhead)) {
      const std::int64_t tile = s.tile[behind.stage];
      const RowPlace<Scan> place = tiles.place(tile);
      const std::int64_t first = tiles.first(tile, place);
      mbarrier_wait(&s.ready[behind.stage], behind.parity);
      whole_or_not(place, first, [&](auto whole) {
        auto vectors = vectors_of<whole>(scan, place, first, s_ring + behind.stage * kStageVectors);
        vectors.fold();
        const auto prefix = s.prefixes[behind.stage][warp];
        __syncwarp();  // all lanes have read before lane 0 says so
        if (lane == 0) mbarrier_arrive(&s.empty[behind.stage]);
        vectors.give(prefix, exclusive);
      });
      --waiting;
      behind.step();
    }
  }
}

// Of a tile that is summed up: in lane i what scanners 0 ... i have, in those behind the last scanner the tile's total.
template <class Acc, class Combine>
__device__ __forceinline__ Acc sums_of(const Acc (&s_totals)[kScanners], const Acc& identity,
                                       Combine combine) {
  const int lane = lane_index();
  return warp_inclusive_scan(lane < kScanners ? s_totals[lane] : identity, combine);
}

template <class Scan, class Body>
__device__ __forceinline__ void for_each_summed(const Scan& scan, RingShared<typename Scan::Acc>& s,
                                                Body body) {
  const auto combine = [&](const auto& a, const auto& b) { return scan.combine(a, b); };
  for (RingPlace at;; at.step()) {
    mbarrier_wait(&s.full[at.stage], at.parity);
    const std::int64_t tile = s.tile[at.stage];
    if (tile == kNoTile) return;
    mbarrier_wait(&s.summed[at.stage], at.parity);
    const auto up_to = sums_of(s.totals[at.stage], scan.identity(), combine);
    body(at, tile, up_to, warp_broadcast(up_to, kWarpSize - 1));
  }
}

// Every block takes tiles by a ticket: one that waits for a tile waits for a block that runs.
template <class Scan>
__global__ void __launch_bounds__(kThreads, scan_plan::kRingBlocks)
    look_ahead_kernel(const typename Scan::In* g_in, typename Scan::Out* g_out,
                      const __grid_constant__ scan_plan::Cut cut, NodeMemory memory, Scan scan,
                      bool exclusive, typename Scan::Acc initial) {
  using Acc = typename Scan::Acc;
  ROOFTILE_DYN_SHARED(uint4, s_ring);
  __shared__ RingShared<Acc> s;
  const int lane = lane_index();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      mbarrier_init(&s.full[i], 1);
      mbarrier_init(&s.summed[i], kScanners);
      mbarrier_init(&s.ready[i], 1);
      mbarrier_init(&s.empty[i], kScanners + 1);
    }
    fence_mbarrier_init();
    s.is_last = false;
  }
  __syncthreads();  // the barriers are ready
  const Tiles<Scan> tiles{g_in, g_out, cut};
  const PublishedValues<Acc> nodes(memory.g_states, memory.g_values);
  const auto combine = [&](const Acc& a, const Acc& b) { return scan.combine(a, b); };
  switch (warp_index()) {
    case kTaker:
      if (lane == 0) take_tiles(tiles, s, s_ring, memory.g_ticket + 1);
      break;
    case kPublisher:
      for_each_summed(scan, s, [&](const RingPlace& at, std::int64_t tile, const Acc&, const Acc& total) {
        __syncwarp();  // all lanes have read before lane 0 says so
        if (lane != 0) return;
        mbarrier_arrive(&s.empty[at.stage]);
        if (cut.tiles > 1) nodes.publish(tiles.row_of(tile) * cut.tree.nodes + tile % cut.tiles, total);
      });
      break;
    case kFinder:
      for_each_summed(
          scan, s, [&](const RingPlace& at, std::int64_t tile, const Acc& up_to, const Acc& total) {
            Acc prefix = initial;
            if (cut.tiles > 1) {
              prefix = combine(initial, prefix_in_tree(nodes, cut.tree, tiles.row_of(tile) * cut.tree.nodes,
                                                       tile % cut.tiles, total, scan.identity(), combine));
            }
            const Acc in_front = shuffle_up(up_to, 1);
            if (lane < kScanners) s.prefixes[at.stage][lane] = lane == 0 ? prefix : combine(prefix, in_front);
            __syncwarp();  // all prefixes are written
            if (lane == 0) mbarrier_arrive(&s.ready[at.stage]);
          });
      break;
    default:
      scan_tiles(scan, tiles, s, s_ring, exclusive);
      break;
  }
  __syncthreads();  // the block reads and publishes no more
  if (threadIdx.x == 0) s.is_last = fetch_inc_acq_rel(memory.g_ticket, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();  // who is last is known
  if (!s.is_last) return;
  if (threadIdx.x == 0) memory.g_ticket[1] = 0;
  for (std::int64_t i = threadIdx.x; i < cut.rows.count * cut.tree.nodes; i += kThreads) nodes.clear(i);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_scans(call.args, [&]<class Scan>(const Scan& scan) {
    const auto& cut = call.config<scan_plan::Cut>();
    const std::int64_t blocks = smaller(cut.rows.count * cut.tiles,
                                        std::int64_t{call.device.multiprocessors} * scan_plan::kRingBlocks);
    return launch(look_ahead_kernel<Scan>,
                  {.grid = dim3(static_cast<unsigned>(blocks)),
                   .block = dim3(kThreads),
                   .shared_bytes = std::size_t{kStages} * kStageVectors * kVecBytes,
                   .stream = call.stream},
                  static_cast<const typename Scan::In*>(call.args.in.data),
                  static_cast<typename Scan::Out*>(call.args.out.data), cut, NodeMemory(call.workspace), scan,
                  call.args.exclusive, scan.initial(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
