// A tile of sums in each thread.
//
// Idea       a thread has 8 x 8 elements of out in registers: of 8 elements of a and 8 of b, each read once, it makes 64 products.
// Change     a quarter of a load from shared memory for each multiply-add in place of two.
// Limits     f32, no activation.
// Bottleneck shared memory: threads read columns 8 words apart, four of them meet in a bank.
// Source     Volkov and Demmel (2008), "Benchmarking GPUs to tune dense linear algebra".
#include "rooftile/ops/gemm/rungs/register_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

__global__ void __launch_bounds__(kTileThreads)
    thread_tile_kernel(const __grid_constant__ Problem p, unsigned tile_rows, bool vectors) {
  __shared__ StepTiles s;
  const BlockPlace block(tile_rows);
  const int thread = static_cast<int>(threadIdx.x);
  const OwnPlace rows{thread / 16 * kOwn, 4};
  const OwnPlace columns{thread % 16 * kOwn, 4};
  const float* g_a = static_cast<const float*>(p.a_data) + block.batch * p.a.batch;
  const float* g_b = static_cast<const float*>(p.b_data) + block.batch * p.b.batch;
  OwnSums sums;
#pragma unroll 1
  for (std::int64_t k = 0; k < p.k; k += kTileDepth) {
#pragma unroll
    for (int i = 0; i < kTileSide * kTileDepth / kTileThreads; ++i) {
      const int element = thread + i * kTileThreads;
      // Lines of a row lie side by side, and columns of a line.
      const int line_a = element % kTileDepth;
      const std::int64_t row = block.row + element / kTileDepth;
      const bool has_a = row < p.m && k + line_a < p.k;
      s.a[line_a][element / kTileDepth] = has_a ? g_a[row * p.a.row + (k + line_a) * p.a.column] : 0.0f;
      const int line_b = element / kTileSide;
      const std::int64_t column = block.column + element % kTileSide;
      const bool has_b = column < p.n && k + line_b < p.k;
      s.b[line_b][element % kTileSide] = has_b ? g_b[(k + line_b) * p.b.row + column * p.b.column] : 0.0f;
    }
    __syncthreads();  // the step is there
#pragma unroll
    for (int d = 0; d < kTileDepth; ++d) sums.add(&s.a[d][rows.first], &s.b[d][columns.first]);
    __syncthreads();  // it has been read
  }
  give_sums(p, block, rows, columns, sums, vectors);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) { return launch_register_tiles(call, thread_tile_kernel); }

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
