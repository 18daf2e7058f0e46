// The loop of double_buffer and warp_tile, which differ in where a thread's elements are.
#pragma once

#include "rooftile/ops/gemm/rungs/register_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

// By all threads of a block.
__device__ __forceinline__ void add_double_buffered(const Problem& p, const BlockPlace& block,
                                                    const OwnPlace& rows, const OwnPlace& columns,
                                                    StepTiles (&s)[2], OwnSums& sums) {
  StepVectors own(p, block);
  own.load(0);
  own.store(s[0]);
  __syncthreads();  // the first step is there
  int buffer = 0;
#pragma unroll 1
  for (std::int64_t k = 0; k < p.k; k += kTileDepth) {
    own.load(k + kTileDepth);
    add_step(s[buffer], rows, columns, sums);
    own.store(s[1 - buffer]);
    buffer = 1 - buffer;
    __syncthreads();  // the next step is there, and this one has been read
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
