// A tile that a block moves by 16-byte accesses alone: register blocks on the way in, whole rows on the way
// out.
//
// In shared memory the tile lies transposed, a row of kChunksM chunks of 16 bytes for each column of in.
// Chunk c of the rows of register block b lies at c ^ b % kChunksM: eight lanes that store the same chunk of
// eight blocks, and eight that load the chunks of one row, reach all banks once each.
//
//   kChunksM 4:   rows of block 0 | 0 1 2 3
//                 rows of block 1 | 1 0 3 2
//                 rows of block 2 | 2 3 0 1
#pragma once

#include <type_traits>

#include "rooftile/device/swizzle.h"
#include "rooftile/ops/transpose/rungs/register_block.h"
#include "rooftile/ops/transpose/rungs/transpose_device.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

// kPolicy: `cached` where out may be in, because what a no_allocate load reads must not be written meanwhile.
template <int kItemBytes_, int kChunksM_, int kChunksN_, int kThreads_,
          LoadPolicy kPolicy = LoadPolicy::no_allocate>
struct VectorTile {
  static constexpr int kItemBytes = kItemBytes_;
  static constexpr int kThreads = kThreads_;
  static constexpr int kN = kSide<kItemBytes>;
  static constexpr int kTileM = kChunksM_ * kN;  // items
  static constexpr int kTileN = kChunksN_ * kN;
  static constexpr int kBlocks = kChunksM_ * kChunksN_ / kThreads;  // register blocks per thread
  static constexpr int kSharedBytes = kTileN * kChunksM_ * kVecBytes;
  static_assert(kChunksM_ * kChunksN_ % kThreads == 0, "every thread takes as many register blocks");
  static_assert(kChunksM_ % 8 == 0 && kChunksN_ % 8 == 0,
                "eight lanes of a 16-byte access reach all 32 banks");

  Words r_blocks[kBlocks][kN];

  // Rows and columns inside the matrix come in whole vectors; what is outside is filled with zeros.
  __device__ __forceinline__ void load(const Tile& tile, std::int64_t in_row) {
#pragma unroll
    for (int k = 0; k < kBlocks; ++k) {
      const int block = static_cast<int>(threadIdx.x) + k * kThreads;
      const int row = block / kChunksN_ * kN;
      const int column = block % kChunksN_;
      const bool inside = row < tile.rows && column * kN < tile.columns;
      const char* g_block = tile.in + row * in_row + column * kVecBytes;
#pragma unroll
      for (int i = 0; i < kN; ++i) {
        r_blocks[k][i] = inside ? to_words(load_bytes<kVecBytes, kPolicy>(g_block)) : Words{};
        g_block += in_row;
      }
    }
  }

  __device__ __forceinline__ void put(unsigned char* s_tile) {
#pragma unroll
    for (int k = 0; k < kBlocks; ++k) {
      const int block = static_cast<int>(threadIdx.x) + k * kThreads;
      transpose_block<kItemBytes>(r_blocks[k]);
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        const int row = block % kChunksN_ * kN + j;
        *chunk_at(s_tile, row, block / kChunksN_) = to_vector(r_blocks[k][j]);
      }
    }
  }

  // Behind a barrier after put(). `tile` is where the columns of the loaded tile go.
  __device__ static __forceinline__ void store(const unsigned char* s_tile, const Tile& tile,
                                               std::int64_t out_row) {
#pragma unroll
    for (int k = 0; k < kBlocks * kN; ++k) {
      const int vector = static_cast<int>(threadIdx.x) + k * kThreads;
      const int row = vector / kChunksM_;
      const int chunk = vector % kChunksM_;
      if (row >= tile.columns || chunk * kN >= tile.rows) continue;
      store_bytes<kVecBytes>(tile.out + row * out_row + chunk * kVecBytes, *chunk_at(s_tile, row, chunk));
    }
  }

 private:
  template <class Byte>
  __device__ static __forceinline__ auto* chunk_at(Byte* s_tile, int row, int chunk) {
    using Chunk = std::conditional_t<std::is_const_v<Byte>, const uint4, uint4>;
    const int place = swizzled_column<kChunksM_>(row / kN, chunk);
    return reinterpret_cast<Chunk*>(s_tile) + row * kChunksM_ + place;
  }
};

// Rows of 256 bytes on both sides, two register blocks per thread. On an H200, cold, of the bound: f32 8192^2
// 0.996 (32 x 32 tiles, rows of 128 bytes: 0.87; 128 x 128: 0.98), u8 16384^2 0.961 (128 x 128: 0.89; one
// block per thread: 0.93).
template <int kItemBytes>
using VectorTileFor = VectorTile<kItemBytes, 16, 16, 128>;

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
