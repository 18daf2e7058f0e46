// Tiles of a row, scanned by a block each; what is in front of a tile comes from a tree of tiles, or from whatever
// else finds it. Kernel machinery behind scan_with() (scan_functor.h) and the single-pass rungs.
#pragma once

#include <cstdint>

#include "rooftile/core/integers.h"
#include "rooftile/core/workspace.h"
#include "rooftile/device/block.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/lookback.h"
#include "rooftile/device/poll.h"
#include "rooftile/device/published.h"
#include "rooftile/device/striped_fold.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/scan/scan_plan.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

inline constexpr int kTileThreads = scan_plan::kTileWarps * kWarpSize;
template <class Scan, int kVectors = scan_plan::kVectors>
inline constexpr std::int64_t kTileElements = scan_plan::tile_bytes(kVectors) /
                                              static_cast<std::int64_t>(sizeof(typename Scan::In));

// A row. Its vectors begin at 16-byte boundaries of `in`, the row anywhere: the first vector may begin in front of it.
template <class Scan>
struct RowPlace {
  const typename Scan::In* g_in;  // the row's first element
  typename Scan::Out* g_out;
  std::int64_t length;
  int skew;             // elements between the boundary and the first
  bool vectors_to_out;  // out lies to 16-byte boundaries as in does

  __device__ __forceinline__ static RowPlace of(const typename Scan::In* g_in, typename Scan::Out* g_out,
                                                std::int64_t row, std::int64_t length) {
    const auto bytes = [](const void* g) {
      return static_cast<int>(reinterpret_cast<std::uintptr_t>(g) % kVecBytes);
    };
    g_in += row * length;
    g_out += row * length;
    return {g_in, g_out, length, bytes(g_in) / static_cast<int>(sizeof(*g_in)), bytes(g_in) == bytes(g_out)};
  }
};

// The vectors of one lane: kVectors, 32 lanes' side by side, from element `first` of the row on. kWhole: all of their
// elements are the row's.
template <bool kWhole, int kVectors, class Scan>
class LaneVectors {
 public:
  using In = typename Scan::In;
  using Out = typename Scan::Out;
  using Acc = typename Scan::Acc;
  static constexpr int kElements = kVecElements<In>;
  static_assert(sizeof(In) == sizeof(Out), "out is cut into vectors as in is");

  // `first`: of the warp's first lane.
  __device__ __forceinline__ LaneVectors(const Scan& scan, const RowPlace<Scan>& place, std::int64_t first)
      : LaneVectors(scan, place, first, [&](int, std::int64_t i) { return load_vec(place.g_in + i); }) {}
  // The same, where a vector that is whole, number v of the lane and with element i of the row in front, is load(v, i).
  template <class Load>
  __device__ __forceinline__ LaneVectors(const Scan& scan, const RowPlace<Scan>& place, std::int64_t first,
                                         Load load)
      : scan_(scan), place_(place), first_(first + lane_index() * kElements) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (is_whole(v)) {
        r_in_[v] = load(v, at(v, 0));
      } else {
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
          if (is_inside(at(v, i))) r_in_[v][i] = place.g_in[at(v, i)];
        }
      }
    }
  }

  // What all lanes have.
  __device__ __forceinline__ Acc total() const {
    constexpr int kAtOnce = kVectors < 4 ? kVectors : 4;
    const auto combine = [&](const Acc& a, const Acc& b) { return scan_.combine(a, b); };
    Acc total = scan_.identity();
#pragma unroll
    for (int first = 0; first < kVectors; first += kAtOnce) {
      Acc sums[kAtOnce];
#pragma unroll
      for (int v = 0; v < kAtOnce; ++v) sums[v] = sum(first + v);
      const Acc next = fold_striped(sums, combine);
      total = first == 0 ? next : combine(total, next);
    }
    return total;
  }

  // The same, in another order; remembers what of each vector the lanes in front have.
  __device__ __forceinline__ Acc fold() {
    const auto combine = [&](const Acc& a, const Acc& b) { return scan_.combine(a, b); };
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Acc up_to = warp_inclusive_scan(sum(v), combine);
      totals_[v] = warp_broadcast(up_to, kWarpSize - 1);
      before_[v] = shuffle_up(up_to, 1);
      if (lane_index() == 0) before_[v] = scan_.identity();
    }
    Acc total = totals_[0];
#pragma unroll
    for (int v = 1; v < kVectors; ++v) total = combine(total, totals_[v]);
    return total;
  }

  // Writes the results, `running` standing in front of the warp's first element.
  __device__ __forceinline__ void give(Acc running, bool exclusive) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Vec<Out, kElements> r_out = results(v, scan_.combine(running, before_[v]), exclusive);
      if (place_.vectors_to_out && is_whole(v)) {
        // The compiler would take a plain store apart, to share its pieces with the branch below.
        store_vec<StorePolicy::no_allocate>(place_.g_out + at(v, 0), r_out);
      } else {
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
          if (is_inside(at(v, i))) place_.g_out[at(v, i)] = r_out[i];
        }
      }
      running = scan_.combine(running, totals_[v]);
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::int64_t at(int v, int i) const {
    return first_ + v * (kWarpSize * kElements) + i;
  }
  [[nodiscard]] __device__ __forceinline__ bool is_inside(std::int64_t i) const {
    return kWhole || (i >= 0 && i < place_.length);
  }
  [[nodiscard]] __device__ __forceinline__ bool is_whole(int v) const {
    return is_inside(at(v, 0)) && is_inside(at(v, kElements - 1));
  }
  [[nodiscard]] __device__ __forceinline__ Acc item(int v, int i) const {
    return is_inside(at(v, i)) ? scan_.take(r_in_[v][i]) : scan_.identity();
  }
  [[nodiscard]] __device__ __forceinline__ Acc sum(int v) const {
    if constexpr (kWhole && requires { scan_.sum_of(r_in_[v]); }) {
      return scan_.sum_of(r_in_[v]);
    } else {
      Acc sum = item(v, 0);
#pragma unroll
      for (int i = 1; i < kElements; ++i) sum = scan_.combine(sum, item(v, i));
      return sum;
    }
  }
  // Of vector v with `sum` in front.
  [[nodiscard]] __device__ __forceinline__ Vec<Out, kElements> results(int v, Acc sum, bool exclusive) const {
    if constexpr (kWhole && requires { scan_.results_of(r_in_[v], sum, exclusive); }) {
      return scan_.results_of(r_in_[v], sum, exclusive);
    } else {
      Vec<Out, kElements> r_out;
#pragma unroll
      for (int i = 0; i < kElements; ++i) {
        const Acc next = scan_.combine(sum, item(v, i));
        r_out[i] = scan_.give(exclusive ? sum : next);
        sum = next;
      }
      return r_out;
    }
  }

  const Scan& scan_;
  const RowPlace<Scan>& place_;
  std::int64_t first_;
  Vec<In, kElements> r_in_[kVectors];
  Acc before_[kVectors];
  Acc totals_[kVectors];
};

// What a block keeps in shared memory.
template <class Acc>
struct TileShared {
  Acc totals[scan_plan::kTileWarps];
  Acc fronts[scan_plan::kTileWarps];  // what a finder's warps find
  bool is_last;
};

// Scans the tile that begins at element `first` of the row. `prefix_of(total, meanwhile)`, called by all threads, gives what
// stands in front of it. kEarly: it calls meanwhile(), which folds the vectors, once the total is published, and the total is
// found sooner, in another order.
template <bool kWhole, int kVectors, bool kEarly, class Scan, class PrefixOf>
__device__ __forceinline__ void scan_tile(const Scan& scan, const RowPlace<Scan>& place, std::int64_t first,
                                          bool exclusive, TileShared<typename Scan::Acc>& s,
                                          PrefixOf prefix_of) {
  using Acc = typename Scan::Acc;
  const auto combine = [&](const Acc& a, const Acc& b) { return scan.combine(a, b); };
  const int lane = lane_index();
  const int warp = warp_index();
  LaneVectors<kWhole, kVectors, Scan> vectors(
      scan, place, first + warp * (kTileElements<Scan, kVectors> / scan_plan::kTileWarps));
  const Acc total = kEarly ? vectors.total() : vectors.fold();
  if (lane == 0) s.totals[warp] = total;
  __syncthreads();  // every warp's total is there
  const Acc mine = lane < scan_plan::kTileWarps ? s.totals[lane] : scan.identity();
  const Acc up_to = warp_inclusive_scan(mine, combine);
  const Acc prefix = prefix_of(warp_broadcast(up_to, kWarpSize - 1), [&] {
    if (kEarly) vectors.fold();
  });
  const Acc warps_in_front = shuffle(up_to, warp > 0 ? warp - 1 : 0);
  vectors.give(warp > 0 ? combine(prefix, warps_in_front) : prefix, exclusive);
}

// What tiles 0 ... tile - 1 of a row combine to, by the lanes of one warp, which brings the tile's own total, published
// before: a fixed tree of 32 branches. Publishes the totals of the nodes that the tile completes.
template <class Acc, class Combine>
__device__ __forceinline__ Acc prefix_in_tree(const PublishedValues<Acc>& nodes,
                                              const scan_plan::TileTree& tree, std::int64_t row_nodes,
                                              std::int64_t tile, Acc total, Acc identity, Combine combine) {
  const int lane = lane_index();
  Acc prefix = identity;
  std::int64_t index = tile;  // of the node on this level that the tile is in
  bool completes = true;      // that node, when its own nodes in front are there
#pragma unroll 1
  for (int level = 0; level < tree.levels; ++level) {
    const std::int64_t start = row_nodes + tree.starts[static_cast<std::size_t>(level)];
    if (level > 0 && completes && lane == 0) nodes.publish(start + index, total);
    const auto place = static_cast<int>(index % scan_plan::kBranches);
    const Acc mine = lane < place ? nodes.wait(start + index - place + lane).value : identity;
    const Acc in_front = fold_lanes(mine, combine);
    prefix = combine(in_front, prefix);
    total = combine(in_front, total);
    completes = completes && place == scan_plan::kBranches - 1;
    index /= scan_plan::kBranches;
  }
  return prefix;
}

// Where the nodes stand in a workspace.
struct NodeMemory {
  std::uint32_t* g_ticket;
  void* g_states;
  void* g_values;
  explicit NodeMemory(const Workspace& workspace)
      : g_ticket(static_cast<std::uint32_t*>(workspace.zeroed)),
        g_states(static_cast<char*>(workspace.zeroed) + scan_plan::kTicketBytes),
        g_values(workspace.data) {}
};

// How a tile asks for its prefix: by all threads of its block,
//   Finder{}(s, nodes, tree, row_nodes, tile, total, identity, combine, meanwhile).
// Finder::kEarly and meanwhile: scan_tile. Finder::vectors(element): of a thread.
// By the first warp, which knows the rest.
template <class Acc, class Find>
__device__ __forceinline__ Acc found_by_first_warp(TileShared<Acc>& s, Find find) {
  if (warp_index() == 0) {
    const Acc prefix = find();
    if (lane_index() == 0) s.fronts[0] = prefix;
  }
  __syncthreads();  // what stands in front is found
  return s.fronts[0];
}

struct TreeFinder {
  static constexpr bool kEarly = false;
  static constexpr int vectors(std::size_t) { return scan_plan::kVectors; }
  template <class Acc, class Combine, class Meanwhile>
  __device__ __forceinline__ Acc operator()(TileShared<Acc>& s, const PublishedValues<Acc>& nodes,
                                            const scan_plan::TileTree& tree, std::int64_t row_nodes,
                                            std::int64_t tile, const Acc& total, const Acc& identity,
                                            Combine combine, Meanwhile) const {
    return found_by_first_warp(s, [&] {
      if (lane_index() == 0) nodes.publish(row_nodes + tile, total);
      return prefix_in_tree(nodes, tree, row_nodes, tile, total, identity, combine);
    });
  }
};

// Every total in front, by all warps: each takes as many groups of 32, one behind the other.
struct FlatFinder {
  static constexpr bool kEarly = true;
  static constexpr int vectors(std::size_t element) { return scan_plan::flat_vectors(element); }
  template <class Acc, class Combine, class Meanwhile>
  __device__ __forceinline__ Acc operator()(TileShared<Acc>& s, const PublishedValues<Acc>& totals,
                                            const scan_plan::TileTree&, std::int64_t row_totals,
                                            std::int64_t tile, const Acc& total, const Acc& identity,
                                            Combine combine, Meanwhile meanwhile) const {
    const int lane = lane_index();
    if (threadIdx.x == 0) totals.publish(row_totals + tile, total);
    meanwhile();
    const auto groups = static_cast<int>(ceil_div(tile, kWarpSize));
    const int of_a_warp = static_cast<int>(ceil_div(groups, scan_plan::kTileWarps));
    const int first = warp_index() * of_a_warp;
    Acc front = identity;
    for (int group = first; group < groups && group < first + of_a_warp; ++group) {
      const std::int64_t i = std::int64_t{group} * kWarpSize + lane;
      const Acc mine = i < tile ? totals.wait(row_totals + i).value : identity;
      front = combine(front, fold_lanes(mine, combine));
    }
    if (lane == 0) s.fronts[warp_index()] = front;
    __syncthreads();  // what stands in front is found
    return fold_lanes(lane < scan_plan::kTileWarps ? s.fronts[lane] : identity, combine);
  }
};

// What stands in front of every row.
template <class Acc>
struct Initial {
  Acc value{};
  bool is_given = false;  // else the identity
};

// Block b scans tile b % tiles of row b / tiles, which waits for tiles in front of it only: blocks start in their order.
template <class Finder, class Scan>
__global__ void __launch_bounds__(kTileThreads)
    scan_tiles_kernel(const typename Scan::In* g_in, typename Scan::Out* g_out,
                      const __grid_constant__ scan_plan::Cut cut, NodeMemory memory, Scan scan,
                      bool exclusive, Initial<typename Scan::Acc> in_front) {
  using Acc = typename Scan::Acc;
  constexpr int kVectors = Finder::vectors(sizeof(typename Scan::In));
  __shared__ TileShared<Acc> s;
  const auto combine = [&](const Acc& a, const Acc& b) { return scan.combine(a, b); };
  const auto tiles = static_cast<unsigned>(cut.tiles);
  const std::int64_t row = blockIdx.x / tiles;
  const std::int64_t tile = blockIdx.x % tiles;

  const auto place = RowPlace<Scan>::of(g_in, g_out, row, cut.rows.length);
  const std::int64_t first = tile * kTileElements<Scan, kVectors> - place.skew;

  const PublishedValues<Acc> nodes(memory.g_states, memory.g_values);
  const auto prefix_of = [&](const Acc& total, auto meanwhile) {
    const Acc initial = in_front.is_given ? in_front.value : scan.identity();
    if (tiles == 1) {
      meanwhile();
      return initial;
    }
    const Acc prefix =
        Finder{}(s, nodes, cut.tree, row * cut.tree.nodes, tile, total, scan.identity(), combine, meanwhile);
    // The block has read all that it reads.
    if (threadIdx.x == 0) s.is_last = fetch_inc_acq_rel(memory.g_ticket, gridDim.x - 1) == gridDim.x - 1;
    return combine(initial, prefix);
  };
  if (first >= 0 && first + kTileElements<Scan, kVectors> <= place.length) {
    scan_tile<true, kVectors, Finder::kEarly>(scan, place, first, exclusive, s, prefix_of);
  } else {
    scan_tile<false, kVectors, Finder::kEarly>(scan, place, first, exclusive, s, prefix_of);
  }
  if (tiles == 1) return;
  __syncthreads();  // who is last is known
  if (!s.is_last) return;
  // Nobody reads or publishes any more: the nodes are zero again for the next launch.
  for (std::int64_t i = threadIdx.x; i < cut.rows.count * cut.tree.nodes; i += kTileThreads) nodes.clear(i);
}

inline constexpr std::int64_t kMaxGrid = 2147483647;  // blocks along x

template <class Finder, class Scan>
Status launch_scan_tiles(const Scan& scan, StreamRef stream, const scan_plan::Cut& cut,
                         const typename Scan::In* g_in, typename Scan::Out* g_out, bool exclusive,
                         const Initial<typename Scan::Acc>& in_front, const Workspace& workspace) {
  if (cut.rows.count == 0) return {};
  if (cut.rows.count * cut.tiles > kMaxGrid) return unsupported("more than 2^31 - 1 rows or tiles");
  return launch(scan_tiles_kernel<Finder, Scan>,
                {.grid = dim3(static_cast<unsigned>(cut.rows.count * cut.tiles)),
                 .block = dim3(kTileThreads),
                 .stream = stream},
                g_in, g_out, cut, NodeMemory(workspace), scan, exclusive, in_front);
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
