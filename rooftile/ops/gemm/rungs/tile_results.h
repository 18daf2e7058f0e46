// From a tile's sums to its results.
#pragma once

#include <cstdint>

#include "rooftile/ops/gemm/rungs/tile_product.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

// By way of shared memory: of a warp some rows at a time, which its lanes then give by vectors side by side. Sums stand in
// registers by constant indices alone: what becomes of each of them is written down once, not 128 times.
template <class Tile, class T>
class TileResults {
 public:
  static constexpr int kColumns = 4 * Tile::kThreadColumns;  // of a warp
  static constexpr int kRows = 8 * Tile::kVector;            // at a time
  static constexpr int kPitch = kColumns + Tile::kVector;
  static constexpr std::size_t kSharedBytes = sizeof(T) * kRows * kPitch * (Tile::kThreads / kWarpSize);

  // By all threads of a block; shared memory is free.
  __device__ __forceinline__ static void give(const Output<T>& output, const Sums<Tile, T>& sums,
                                              std::int64_t first_row, std::int64_t first_column, bool vectors,
                                              T* s_memory) {
    T* s_warp = s_memory + warp_index() * (kRows * kPitch);
    const int lane = lane_index();
#pragma unroll
    for (int rows = 0; rows < Tile::kRowVectors; ++rows) {
      // Line i * 8 + lane_row has row lane_row * kVector + i: lanes that store at once have lines side by side.
#pragma unroll
      for (int i = 0; i < Tile::kVector; ++i) {
#pragma unroll
        for (int v = 0; v < Tile::kColumnVectors; ++v) {
          Vec<T, Tile::kVector> vec;
#pragma unroll
          for (int e = 0; e < Tile::kVector; ++e)
            vec[e] = sums.at[rows * Tile::kVector + i][v * Tile::kVector + e];
          store_vec(s_warp + (i * 8 + lane % 8) * kPitch + (v * 4 + lane / 8) * Tile::kVector, vec);
        }
      }
      __syncwarp();  // the rows are there
      const std::int64_t row = first_row + Tile::warp_row() + rows * kRows;
      const std::int64_t column = first_column + Tile::warp_column() + lane % kLanes * Tile::kVector;
#pragma unroll 1
      for (int line = lane / kLanes; line < kRows; line += kWarpSize / kLanes) {
        const Vec<T, Tile::kVector> vec = load_vec(s_warp + line * kPitch + lane % kLanes * Tile::kVector);
        output.give(vec, row + line % 8 * Tile::kVector + line / 8, column, vectors);
      }
      __syncwarp();  // they have been read
    }
  }

 private:
  static constexpr int kLanes = kColumns / Tile::kVector;  // of a line
};

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
