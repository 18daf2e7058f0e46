// The reduced axis is not the contiguous one.
//
// Idea       lanes stand side by side along the contiguous axis, one 16-byte vector each, and walk along the
//            reduced axis: every access is coalesced, and a thread has an accumulator per column of its
//            vector.
// Change     the tree is over the 8 warps of a block at the end; the reduced axis is split over blocks where
//            there are too few columns to fill the GPU, and the last block of a column tile finishes it.
// Limits     in[outer][reduced][inner] without gaps, inner a multiple of the vector, in aligned to 16 bytes.
// Bottleneck DRAM.
#include "rooftile/core/integers.h"
#include "rooftile/ops/reduce/reduce_rows.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kWarps = reduce_plan::kColumnWarps;
constexpr int kBlock = kWarps * kWarpSize;
constexpr int kLoads = reduce_plan::kColumnLoads;

struct ColumnShape {
  std::int64_t reduced;
  std::int64_t inner;  // elements
  std::int64_t tiles;  // column tiles per outer index
  std::int64_t rows_per_part;
};

// Combines acc over the warps of the block, lane by lane; warp 0 has the result. One barrier pair per column
// of the vector keeps the shared memory at one accumulator per thread.
template <class Reduction, int kElements>
__device__ __forceinline__ void combine_warps(const Reduction& reduction,
                                              typename Reduction::Acc (&acc)[kElements],
                                              typename Reduction::Acc (&s_values)[kWarps][kWarpSize],
                                              int warp, int lane) {
#pragma unroll
  for (int e = 0; e < kElements; ++e) {
    s_values[warp][lane] = acc[e];
    __syncthreads();  // every warp's value of this column is there
    if (warp == 0) {
#pragma unroll
      for (int w = 1; w < kWarps; ++w) acc[e] = reduction.combine(acc[e], s_values[w][lane]);
    }
    __syncthreads();  // read before the next column overwrites it
  }
}

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    column_tiles_kernel(const typename Reduction::In* __restrict__ g_in, ColumnShape shape,
                        typename Reduction::Acc* g_partials, std::uint32_t* g_tickets, Reduction reduction,
                        ReduceOutput out) {
  using In = typename Reduction::In;
  using Acc = typename Reduction::Acc;
  constexpr int kElements = kVecElements<In>;
  __shared__ Acc s_values[kWarps][kWarpSize];
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const std::int64_t outer = blockIdx.x / shape.tiles;
  const std::int64_t column = (blockIdx.x % shape.tiles * kWarpSize + lane) * kElements;
  const bool inside = column < shape.inner;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * shape.rows_per_part;
  const std::int64_t last =
      first + shape.rows_per_part < shape.reduced ? first + shape.rows_per_part : shape.reduced;

  Acc acc[kElements];
#pragma unroll
  for (int e = 0; e < kElements; ++e) acc[e] = reduction.identity();
  if (inside) {
    const In* g_column = g_in + outer * shape.reduced * shape.inner + column;
    std::int64_t row = first + warp;
    for (; row + (kLoads - 1) * kWarps < last; row += kLoads * kWarps) {
      Vec<In, kElements> r_vectors[kLoads];
#pragma unroll
      for (int v = 0; v < kLoads; ++v) {
        r_vectors[v] = load_vec<LoadPolicy::no_allocate>(g_column + (row + v * kWarps) * shape.inner);
      }
#pragma unroll
      for (int v = 0; v < kLoads; ++v) {
#pragma unroll
        for (int e = 0; e < kElements; ++e)
          acc[e] = reduction.take(acc[e], r_vectors[v][e], row + v * kWarps);
      }
    }
    for (; row < last; row += kWarps) {
      const Vec<In, kElements> r_vector = load_vec<LoadPolicy::no_allocate>(g_column + row * shape.inner);
#pragma unroll
      for (int e = 0; e < kElements; ++e) acc[e] = reduction.take(acc[e], r_vector[e], row);
    }
  }
  combine_warps<Reduction, kElements>(reduction, acc, s_values, warp, lane);

  if (gridDim.y > 1) {
    // Partial results: [block of x][part][lane][column of the vector].
    constexpr std::int64_t kTile = std::int64_t{kWarpSize} * kElements;
    Acc* g_tile = g_partials + static_cast<std::int64_t>(blockIdx.x) * gridDim.y * kTile + lane * kElements;
    if (warp == 0) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) g_tile[blockIdx.y * kTile + e] = acc[e];
    }
    __syncthreads();  // warp 0's stores before thread 0's release
    if (!is_last_block(&g_tickets[blockIdx.x], gridDim.y)) return;
#pragma unroll
    for (int e = 0; e < kElements; ++e) acc[e] = reduction.identity();
    for (unsigned part = static_cast<unsigned>(warp); part < gridDim.y; part += kWarps) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) acc[e] = reduction.combine(acc[e], g_tile[part * kTile + e]);
    }
    combine_warps<Reduction, kElements>(reduction, acc, s_values, warp, lane);
  }
  if (warp == 0 && inside) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) reduction.store(out, outer * shape.inner + column + e, acc[e]);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_reduction(call.args, [&]<class Reduction>(const Reduction& reduction) -> Status {
    using In = typename Reduction::In;
    const auto& cut = call.config<reduce_plan::Cut>();
    const reduce_plan::Geometry& shape = cut.shape;
    if (shape.outputs() == 0) return {};
    const std::int64_t tiles = reduce_plan::column_tiles(shape.inner, sizeof(In));
    const std::int64_t parts = cut.blocks;
    if (shape.outer * tiles > kMaxGrid) return unsupported("more than 2^31 - 1 column tiles");
    return launch(column_tiles_kernel<Reduction>,
                  {.grid = dim3(static_cast<unsigned>(shape.outer * tiles), static_cast<unsigned>(parts)),
                   .block = dim3(kBlock),
                   .stream = call.stream},
                  static_cast<const In*>(call.args.in.data),
                  ColumnShape{shape.reduced, shape.inner, tiles, ceil_div(shape.reduced, parts)},
                  static_cast<typename Reduction::Acc*>(call.workspace.data),
                  static_cast<std::uint32_t*>(call.workspace.zeroed), reduction,
                  make_output(call.args, shape.reduced));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
