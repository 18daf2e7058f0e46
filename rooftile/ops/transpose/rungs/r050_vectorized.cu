// More bytes per instruction, more of them on the way.
//
// Idea       16-byte loads and stores of global memory, two independent loads per thread, a tile of 64 x 64:
//            rows of 256 bytes on both sides.
// Change     a quarter of the global accesses. Shared memory is still reached word by word, because a vector
//            that goes in along a row comes out as four rows.
// Limits     4-byte items in rows that 16-byte accesses cover exactly.
// Bottleneck shared memory: eight accesses per vector, and banks that two lanes share (the stride of four
//            words).
// Source     Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (2013).
#include "rooftile/ops/transpose/rungs/transpose_device.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

constexpr int kTile = 64;
constexpr int kBlock = 512;
constexpr int kVector = kVecElements<float>;
constexpr int kChunks = kTile / kVector;  // per row
constexpr int kVectorsPerThread = kTile * kChunks / kBlock;
static_assert(kTile * kChunks % kBlock == 0, "every thread moves as many vectors");

__global__ void __launch_bounds__(kBlock) vectorized_kernel(Matrices a, TileGrid grid) {
  __shared__ float s_tile[kTile][kTile + 1];
  const Tile tile = place_tile<kTile, kTile>(a, grid, sizeof(float));
  const int chunk = static_cast<int>(threadIdx.x) % kChunks * kVector;
  const int first_row = static_cast<int>(threadIdx.x) / kChunks;
  constexpr int kRows = kBlock / kChunks;  // rows that the block moves at once

  Vec<float, kVector> r_vectors[kVectorsPerThread] = {};
#pragma unroll
  for (int k = 0; k < kVectorsPerThread; ++k) {
    const int row = first_row + k * kRows;
    if (row >= tile.rows || chunk >= tile.columns) continue;
    r_vectors[k] = load_vec(reinterpret_cast<const float*>(tile.in + row * a.in_row) + chunk);
  }
#pragma unroll
  for (int k = 0; k < kVectorsPerThread; ++k) {
    const int row = first_row + k * kRows;
    if (row >= tile.rows || chunk >= tile.columns) continue;
#pragma unroll
    for (int e = 0; e < kVector; ++e) s_tile[row][chunk + e] = r_vectors[k][e];
  }
  __syncthreads();  // the tile is complete
#pragma unroll
  for (int k = 0; k < kVectorsPerThread; ++k) {
    const int row = first_row + k * kRows;
    if (row >= tile.columns || chunk >= tile.rows) continue;
    Vec<float, kVector> r_vector;
#pragma unroll
    for (int e = 0; e < kVector; ++e) r_vector[e] = s_tile[chunk + e][row];
    store_vec(reinterpret_cast<float*>(tile.out + row * a.out_row) + chunk, r_vector);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<kTile, kTile>(g)));
  return launch(vectorized_kernel,
                {.grid = dim3(tile_blocks(grid, g)), .block = dim3(kBlock), .stream = call.stream},
                matrices(call.args, g), grid);
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
