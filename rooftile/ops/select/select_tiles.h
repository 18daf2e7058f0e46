// Tiles of a vector, each looked through by a block. Kernel machinery behind select_with() (select_functor.h) and the rungs.
//
// What an element is chosen by is a trivially copyable type with In, the element type, and
//   __device__ bool chosen(const Elements<In>& from, std::int64_t i, In x) const;     // x is element i
// and, where a vector is cheaper at once, for whole vectors by all lanes of a warp, bit j for element i + j:
//   __device__ unsigned mask(const Elements<In>& from, std::int64_t i, const Vec<In, kVecElements<In>>& x) const;
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/workspace.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/lookback.h"
#include "rooftile/device/poll.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/select/select_plan.h"

namespace rooftile::ROOFTILE_TARGET::select_rungs {

inline constexpr int kTileThreads = select_plan::kTileWarps * kWarpSize;

template <class In>
struct Elements {
  const In* g_in;
  std::int64_t n;

  [[nodiscard]] __device__ __forceinline__ bool contains(std::int64_t i) const { return i >= 0 && i < n; }
  // Vectors begin at 16-byte boundaries: the first may begin so many elements in front of the first one.
  [[nodiscard]] __device__ __forceinline__ int skew() const {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(g_in) % kVecBytes) /
           static_cast<int>(sizeof(In));
  }
};

// Where the results go.
template <class In>
struct Results {
  In* g_out;
  std::int64_t* g_count;
  bool keeps_others;  // behind the chosen ones, from the back
};

// The vectors of a warp: kVectors, 32 lanes' side by side, from element `first` on. kWhole: all of their elements are there.
template <bool kWhole, int kVectors, class Chooser>
class WarpItems {
 public:
  using In = typename Chooser::In;
  static constexpr int kElements = kVecElements<In>;
  static constexpr int kCount = kWarpSize * kVectors * kElements;

  // A vector that is whole, number v of the lane and with element i in front, is load(v, i).
  template <class Load>
  __device__ __forceinline__ WarpItems(const Chooser& chooser, const Elements<In>& from, std::int64_t first,
                                       Load load)
      : from_(from), first_(first) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) load_items(v, load);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) masks_[v] = mask_of(chooser, v);
  }

  // How many are chosen; remembers how many of them are in front of each lane's. Two vectors' sums to a word.
  __device__ __forceinline__ std::uint32_t count() {
    const auto add = [](std::uint32_t a, std::uint32_t b) { return a + b; };
    std::uint32_t total = 0;
#pragma unroll
    for (int v = 0; v < kVectors; v += 2) {
      std::uint32_t mine = static_cast<std::uint32_t>(__popc(masks_[v]));
      if (v + 1 < kVectors) mine |= static_cast<std::uint32_t>(__popc(masks_[v + 1])) << 16;
      const std::uint32_t up_to = warp_inclusive_scan(mine, add);
      const std::uint32_t totals = warp_broadcast(up_to, kWarpSize - 1);
      const std::uint32_t in_front = up_to - mine;
      in_front_[v] = total + (in_front & 0xffffu);
      total += totals & 0xffffu;
      if (v + 1 < kVectors) {
        in_front_[v + 1] = total + (in_front >> 16);
        total += totals >> 16;
      }
    }
    total_ = total;
    return total;
  }

  // The chosen ones in their order; behind them the others, where they are asked for.
  __device__ __forceinline__ void sort(In (&s_items)[kCount], bool keeps_others) const {
    const std::int64_t begin = first_ < 0 ? 0 : first_;  // the warp's first element that is there
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      std::uint32_t rank = in_front_[v];
#pragma unroll
      for (int j = 0; j < kElements; ++j) {
        if ((masks_[v] >> j & 1u) != 0) {
          s_items[rank++] = items_[v][j];
        } else if (keeps_others && is_inside(at(v, j))) {
          s_items[total_ + static_cast<std::uint32_t>(at(v, j) - begin) - rank] = items_[v][j];
        }
      }
    }
  }

  // Writes `total` chosen ones, sorted out by the lanes of this warp from element `first` on, behind the `prefix` chosen ones in
  // front of the warp, side by side.
  __device__ __forceinline__ static void write(const In (&s_items)[kCount], std::uint32_t total,
                                               const Elements<In>& from, std::int64_t first,
                                               std::int64_t prefix, const Results<In>& results) {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    for (std::uint32_t k = lane; k < total; k += kWarpSize) results.g_out[prefix + k] = s_items[k];
    if (!results.keeps_others) return;
    const std::int64_t begin = first < 0 ? 0 : first;
    const std::int64_t end = first + kCount < from.n ? first + kCount : from.n;
    const std::int64_t others = end - begin - total;  // below 0 where nothing of the warp's is there
    const std::int64_t last = from.n - 1 - (begin - prefix);
    for (std::int64_t k = lane; k < others; k += kWarpSize)
      results.g_out[last - k] = s_items[total + static_cast<std::uint32_t>(k)];
  }

  // Both, by way of shared memory.
  __device__ __forceinline__ void give(In (&s_items)[kCount], std::int64_t prefix,
                                       const Results<In>& results) const {
    sort(s_items, results.keeps_others);
    __syncwarp();  // the warp's items are sorted out
    write(s_items, total_, from_, first_, prefix, results);
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::int64_t at(int v, int j) const {
    return first_ + (v * kWarpSize + lane_index()) * kElements + j;
  }
  [[nodiscard]] __device__ __forceinline__ bool is_inside(std::int64_t i) const {
    return kWhole || from_.contains(i);
  }
  template <class Load>
  __device__ __forceinline__ void load_items(int v, Load load) {
    if (is_inside(at(v, 0)) && is_inside(at(v, kElements - 1))) {
      items_[v] = load(v, at(v, 0));
      return;
    }
#pragma unroll
    for (int j = 0; j < kElements; ++j) {
      items_[v][j] = In{};
      if (is_inside(at(v, j))) items_[v][j] = from_.g_in[at(v, j)];
    }
  }
  [[nodiscard]] __device__ __forceinline__ unsigned mask_of(const Chooser& chooser, int v) const {
    if constexpr (kWhole && requires { chooser.mask(from_, at(v, 0), items_[v]); }) {
      return chooser.mask(from_, at(v, 0), items_[v]);
    } else {
      unsigned mask = 0;
#pragma unroll
      for (int j = 0; j < kElements; ++j) {
        if (is_inside(at(v, j)) && chooser.chosen(from_, at(v, j), items_[v][j])) mask |= 1u << j;
      }
      return mask;
    }
  }

  const Elements<In>& from_;
  std::int64_t first_;
  Vec<In, kElements> items_[kVectors];
  unsigned masks_[kVectors];
  std::uint32_t in_front_[kVectors];
  std::uint32_t total_ = 0;
};

// What a block keeps in shared memory.
template <class In, int kVectors>
struct TileShared {
  alignas(kVecBytes) In items[select_plan::kTileWarps][kWarpSize * kVectors * kVecElements<In>];
  std::uint32_t counts[select_plan::kTileWarps];
  std::int64_t prefixes[select_plan::kTileWarps];
};

// The items of a warp of a tile that hangs over an end of the vector: they are read twice, once to be counted and once to be
// written, a vector of each lane at a time: little code for what is rare. Where kInPlace is, give() gets the memory that they are
// read from. Otherwise as WarpItems.
template <int kVectors, bool kInPlace, class Chooser, class Load>
class WarpPart {
 public:
  using In = typename Chooser::In;
  using Items = WarpItems<false, 1, Chooser>;
  static constexpr int kCount = kVectors * Items::kCount;

  __device__ __forceinline__ WarpPart(const Chooser& chooser, const Elements<In>& from, std::int64_t first,
                                      Load load)
      : chooser_(chooser), from_(from), first_(first), load_(load) {}
  [[nodiscard]] __device__ __forceinline__ std::uint32_t count() const {
    std::uint32_t total = 0;
#pragma unroll 1
    for (int v = 0; v < kVectors; ++v) total += items(v).count();
    return total;
  }
  __device__ __forceinline__ void give(In (&s_items)[kCount], std::int64_t prefix,
                                       const Results<In>& results) const {
#pragma unroll 1
    for (int v = 0; v < kVectors; ++v) {
      Items mine = items(v);
      const std::uint32_t count = mine.count();
      if constexpr (kInPlace) __syncwarp();  // all lanes have what they read: the place may be written
      mine.give(*reinterpret_cast<In(*)[Items::kCount]>(s_items + v * Items::kCount), prefix, results);
      prefix += count;
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ Items items(int v) const {
    return Items(chooser_, from_, first_ + v * Items::kCount,
                 [&](int, std::int64_t i) { return load_(v, i); });
  }

  const Chooser& chooser_;
  const Elements<In>& from_;
  std::int64_t first_;
  Load load_;
};

// Looks through the tile that begins at element `first`. `prefix_of(count)`, called by the lanes of warp 0 with the tile's
// count, gives how many are chosen in front of it; nothing is written where kCountsAlone is.
template <bool kWhole, int kVectors, bool kCountsAlone, class Chooser, class PrefixOf>
__device__ __forceinline__ void select_tile(const Chooser& chooser,
                                            const Elements<typename Chooser::In>& from, std::int64_t first,
                                            const Results<typename Chooser::In>& results,
                                            TileShared<typename Chooser::In, kVectors>& s,
                                            PrefixOf prefix_of) {
  const auto load = [&](int, std::int64_t i) { return load_vec(from.g_in + i); };
  using Items = std::conditional_t<kWhole, WarpItems<true, kVectors, Chooser>,
                                   WarpPart<kVectors, false, Chooser, decltype(load)>>;
  const auto add = [](auto a, auto b) { return a + b; };
  const int lane = lane_index();
  const int warp = warp_index();
  Items items(chooser, from, first + std::int64_t{warp} * Items::kCount, load);
  const std::uint32_t count = items.count();
  if (lane == 0) s.counts[warp] = count;
  __syncthreads();  // every warp's count is there
  if (warp == 0) {
    const std::uint32_t mine = lane < select_plan::kTileWarps ? s.counts[lane] : 0u;
    const std::uint32_t up_to = warp_inclusive_scan(mine, add);
    const std::int64_t prefix = prefix_of(static_cast<std::int64_t>(warp_broadcast(up_to, kWarpSize - 1)));
    if (lane < select_plan::kTileWarps) s.prefixes[lane] = prefix + (up_to - mine);
  }
  if constexpr (kCountsAlone) return;
  __syncthreads();  // every warp's prefix is there
  items.give(s.items[warp], s.prefixes[warp], results);
}

// The same of tile number `tile`, whole or not.
template <int kVectors, bool kCountsAlone, class Chooser, class PrefixOf>
__device__ __forceinline__ void select_tile_number(std::int64_t tile, const Chooser& chooser,
                                                   const Elements<typename Chooser::In>& from,
                                                   const Results<typename Chooser::In>& results,
                                                   TileShared<typename Chooser::In, kVectors>& s,
                                                   PrefixOf prefix_of) {
  constexpr std::int64_t kTile = std::int64_t{kTileThreads} * kVectors * kVecElements<typename Chooser::In>;
  const std::int64_t first = tile * kTile - from.skew();
  if (first >= 0 && first + kTile <= from.n)
    select_tile<true, kVectors, kCountsAlone>(chooser, from, first, results, s, prefix_of);
  else
    select_tile<false, kVectors, kCountsAlone>(chooser, from, first, results, s, prefix_of);
}

// Block b looks through tile b, which waits for tiles in front of it only: blocks start in their order.
template <int kVectors, class Chooser>
__global__ void __launch_bounds__(kTileThreads)
    select_tiles_kernel(Chooser chooser, Elements<typename Chooser::In> from,
                        Results<typename Chooser::In> results, std::uint32_t* g_ticket,
                        std::uint64_t* g_words) {
  __shared__ TileShared<typename Chooser::In, kVectors> s;
  __shared__ bool s_is_last;
  const PublishedCounts tiles(g_words);
  const auto add = [](std::int64_t a, std::int64_t b) { return a + b; };
  const std::int64_t tile = blockIdx.x;
  if (threadIdx.x == 0) s_is_last = false;
  select_tile_number<kVectors, false>(tile, chooser, from, results, s, [&](std::int64_t count) {
    const std::int64_t prefix = prefix_in_chain(tiles, 0, tile, count, std::int64_t{0}, add);
    __syncwarp();  // all lanes have read before lane 0 says so
    if (threadIdx.x == 0) {
      if (tile == gridDim.x - 1) *results.g_count = prefix + count;
      s_is_last = fetch_inc_acq_rel(g_ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    return prefix;
  });
  if (!s_is_last) return;
  // Nobody reads or publishes any more: the words are zero again for the next launch.
  for (std::int64_t i = threadIdx.x; i < gridDim.x; i += kTileThreads) tiles.clear(i);
}

inline constexpr std::int64_t kMaxGrid = 2147483647;  // blocks along x

template <int kVectors, class Chooser>
Status launch_select_tiles(const Chooser& chooser, StreamRef stream, std::int64_t tiles,
                           const Elements<typename Chooser::In>& from,
                           const Results<typename Chooser::In>& results, const Workspace& workspace) {
  if (tiles > kMaxGrid) return unsupported("more than 2^31 - 1 tiles");
  auto* g_ticket = static_cast<std::uint32_t*>(workspace.zeroed);
  auto* g_words =
      reinterpret_cast<std::uint64_t*>(static_cast<char*>(workspace.zeroed) + select_plan::kTicketBytes);
  return launch(select_tiles_kernel<kVectors, Chooser>,
                {.grid = dim3(static_cast<unsigned>(tiles)), .block = dim3(kTileThreads), .stream = stream},
                chooser, from, results, g_ticket, g_words);
}

}  // namespace rooftile::ROOFTILE_TARGET::select_rungs
