// A tile that a block moves item by item: rows may start anywhere. Rows of the tile in shared memory are
// padded, so that columns reach all banks.
#pragma once

#include "rooftile/ops/transpose/rungs/transpose_device.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

template <int kItemBytes_, int kTileM_, int kTileN_, int kThreads_>
struct ElementTile {
  static constexpr int kItemBytes = kItemBytes_;
  static constexpr int kThreads = kThreads_;
  static constexpr int kTileM = kTileM_;
  static constexpr int kTileN = kTileN_;
  using Item = Access<kItemBytes>;
  static constexpr int kItems = kTileM * kTileN / kThreads;  // per thread
  // Whole words, an odd number of them for small items.
  static constexpr int kPitch = kTileN + (kItemBytes >= 4 ? 1 : 4 / kItemBytes);
  static constexpr int kSharedBytes = kTileM * kPitch * kItemBytes;
  static constexpr int kRowsAtOnce = kThreads / kTileN;     // of in
  static constexpr int kColumnsAtOnce = kThreads / kTileM;  // of in, rows of out
  static_assert(kThreads % kTileN == 0 && kThreads % kTileM == 0, "a thread keeps its column");
  static_assert(kTileM % kRowsAtOnce == 0 && kTileN % kColumnsAtOnce == 0,
                "every thread moves as many items");

  Item r_items[kItems];

  // Whole tiles have no test per item: with one, instructions and not DRAM decide. What is outside is filled
  // with zeros.
  __device__ __forceinline__ void load(const Tile& tile, std::int64_t in_row) {
    const int column = static_cast<int>(threadIdx.x) % kTileN;
    const int first = static_cast<int>(threadIdx.x) / kTileN;
    const char* g_item = tile.in + first * in_row + column * kItemBytes;
    const std::int64_t step = kRowsAtOnce * in_row;
    const bool whole = tile.rows == kTileM && tile.columns == kTileN;
    if (whole) {
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        r_items[k] = load_bytes<kItemBytes>(g_item);
        g_item += step;
      }
    } else {
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        const bool inside = first + k * kRowsAtOnce < tile.rows && column < tile.columns;
        r_items[k] = inside ? load_bytes<kItemBytes>(g_item) : Item{};
        g_item += step;
      }
    }
  }

  __device__ __forceinline__ void put(unsigned char* s_tile) {
    Item* const s_item = reinterpret_cast<Item*>(s_tile) + static_cast<int>(threadIdx.x) % kTileN;
    const int first = static_cast<int>(threadIdx.x) / kTileN;
#pragma unroll
    for (int k = 0; k < kItems; ++k) s_item[(first + k * kRowsAtOnce) * kPitch] = r_items[k];
  }

  // Behind a barrier after put(). `tile` is where the columns of the loaded tile go.
  __device__ static __forceinline__ void store(const unsigned char* s_tile, const Tile& tile,
                                               std::int64_t out_row) {
    const int row = static_cast<int>(threadIdx.x) % kTileM;
    const int first = static_cast<int>(threadIdx.x) / kTileM;
    const Item* const s_item = reinterpret_cast<const Item*>(s_tile) + row * kPitch;
    char* g_item = tile.out + first * out_row + row * kItemBytes;
    const std::int64_t step = kColumnsAtOnce * out_row;
    const bool whole = tile.rows == kTileM && tile.columns == kTileN;
    if (whole) {
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        store_bytes<kItemBytes>(g_item, s_item[first + k * kColumnsAtOnce]);
        g_item += step;
      }
    } else {
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        const int column = first + k * kColumnsAtOnce;
        if (column < tile.columns && row < tile.rows) store_bytes<kItemBytes>(g_item, s_item[column]);
        g_item += step;
      }
    }
  }
};

// 4-byte items: long rows of out, written by many threads at once, so that sectors that two warps or two
// blocks share are complete before they leave L2. f32 4097 x 8191 on an H200, cold, of the bound: 0.89 by 128
// x 64 and 1024 threads, 0.79 by 64 x 64 and 512, 0.70 by 64 x 64 and 256. Smaller items are bound by
// instructions, and 256 threads are better (bf16 16384^2 0.79 against 0.70, u8 0.58 against 0.42); larger
// ones fill sectors anyway. Nothing bypasses L1: a warp's loads share sectors with the next one's (0.74 where
// they do).
template <int kItemBytes>
struct ElementTileShape {
  using type = ElementTile<kItemBytes, 32, 32, 256>;
};
template <>
struct ElementTileShape<1> {
  using type = ElementTile<1, 64, 64, 256>;
};
template <>
struct ElementTileShape<2> {
  using type = ElementTile<2, 64, 64, 256>;
};
template <>
struct ElementTileShape<4> {
  using type = ElementTile<4, 128, 64, 1024>;
};
template <int kItemBytes>
using ElementTileFor = typename ElementTileShape<kItemBytes>::type;

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
