// 16 bytes at a time.
//
// Idea       every load has 16 bytes: from global memory one of a and one of b for each thread and step, from shared memory four for 64
//            multiply-adds. a is transposed on its way into shared memory, so that a thread's rows lie side by side there.
// Change     a quarter of the load instructions; a thread's columns are two vectors of four, 64 apart: no bank is met twice.
// Limits     f32, no activation; rows of a and b of multiples of 16 bytes, neither of them transposed.
// Bottleneck the way to global memory: all wait for a step, then all multiply.
// Source     the CUDA C++ Best Practices Guide, on vector accesses.
#include "rooftile/ops/gemm/rungs/register_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

__global__ void __launch_bounds__(kTileThreads, 2)
    vectorized_kernel(const __grid_constant__ Problem p, unsigned tile_rows, bool vectors) {
  __shared__ StepTiles s;
  const BlockPlace block(tile_rows);
  const int thread = static_cast<int>(threadIdx.x);
  const OwnPlace rows{thread / 16 * 4, kTileSide / 2};
  const OwnPlace columns{thread % 16 * 4, kTileSide / 2};
  StepVectors own(p, block);
  OwnSums sums;
#pragma unroll 1
  for (std::int64_t k = 0; k < p.k; k += kTileDepth) {
    own.load(k);
    own.store(s);
    __syncthreads();  // the step is there
    add_step(s, rows, columns, sums);
    __syncthreads();  // it has been read
  }
  give_sums(p, block, rows, columns, sums, vectors);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) { return launch_register_tiles(call, vectorized_kernel); }

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
