// A square of items in the registers of one thread, as many on a side as 16 bytes hold.
//
//   4-byte items     in: vector i = row i          out: vector j = column j
//                    a0 a1 a2 a3                    a0 b0 c0 d0
//                    b0 b1 b2 b3        ------>     a1 b1 c1 d1
//                    c0 c1 c2 c3                    a2 b2 c2 d2
//                    d0 d1 d2 d3                    a3 b3 c3 d3
//
// 4-byte items and larger only change names; 2-byte items take one byte permutation per word, 1-byte items
// two. Source: PTX ISA, prmt.
#pragma once

#include <cstdint>

#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

template <int kItemBytes>
inline constexpr int kSide = kVecBytes / kItemBytes;  // items of a register block's row

inline constexpr int kWords = kVecBytes / 4;

struct Words {
  std::uint32_t w[kWords];
};

__device__ __forceinline__ Words to_words(uint4 v) { return {{v.x, v.y, v.z, v.w}}; }
__device__ __forceinline__ uint4 to_vector(const Words& v) {
  return make_uint4(v.w[0], v.w[1], v.w[2], v.w[3]);
}

template <int kItemBytes>
__device__ __forceinline__ void transpose_block(Words (&r_block)[kSide<kItemBytes>]) {
  constexpr int kN = kSide<kItemBytes>;
  Words r_out[kN];
  if constexpr (kItemBytes >= 4) {
    constexpr int kItemWords = kItemBytes / 4;
#pragma unroll
    for (int i = 0; i < kN; ++i) {
#pragma unroll
      for (int j = 0; j < kN; ++j) {
#pragma unroll
        for (int w = 0; w < kItemWords; ++w)
          r_out[j].w[i * kItemWords + w] = r_block[i].w[j * kItemWords + w];
      }
    }
  } else if constexpr (kItemBytes == 2) {
    // Word j of rows 2i and 2i + 1 holds a 2 x 2 block.
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
#pragma unroll
      for (int j = 0; j < kWords; ++j) {
        const std::uint32_t a = r_block[2 * i].w[j];
        const std::uint32_t b = r_block[2 * i + 1].w[j];
        r_out[2 * j].w[i] = __byte_perm(a, b, 0x5410);
        r_out[2 * j + 1].w[i] = __byte_perm(a, b, 0x7632);
      }
    }
  } else {
    // Word j of rows 4i to 4i + 3 holds a 4 x 4 block: pairs of bytes first, then pairs of pairs.
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
#pragma unroll
      for (int j = 0; j < kWords; ++j) {
        const std::uint32_t a = r_block[4 * i].w[j];
        const std::uint32_t b = r_block[4 * i + 1].w[j];
        const std::uint32_t c = r_block[4 * i + 2].w[j];
        const std::uint32_t d = r_block[4 * i + 3].w[j];
        const std::uint32_t ab_low = __byte_perm(a, b, 0x5140);   // a0 b0 a1 b1
        const std::uint32_t ab_high = __byte_perm(a, b, 0x7362);  // a2 b2 a3 b3
        const std::uint32_t cd_low = __byte_perm(c, d, 0x5140);
        const std::uint32_t cd_high = __byte_perm(c, d, 0x7362);
        r_out[4 * j].w[i] = __byte_perm(ab_low, cd_low, 0x5410);
        r_out[4 * j + 1].w[i] = __byte_perm(ab_low, cd_low, 0x7632);
        r_out[4 * j + 2].w[i] = __byte_perm(ab_high, cd_high, 0x5410);
        r_out[4 * j + 3].w[i] = __byte_perm(ab_high, cd_high, 0x7632);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kN; ++i) r_block[i] = r_out[i];
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
