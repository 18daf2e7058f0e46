// A thread per element.
//
// Idea       neighbouring lanes read neighbours of a row; what they write is a column, every word in a row of
//            its own.
// Limits     4-byte items in rows.
// Bottleneck a warp's store touches 32 sectors of 32 bytes for 4 bytes of each: 8 times the traffic to L2,
//            and where L2 cannot hold them until their neighbours come, to DRAM.
// Source     Ruetsch and Micikevicius 2009, naive transpose.
#include "rooftile/ops/transpose/rungs/lesson_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

__global__ void __launch_bounds__(kLessonBlock) naive_coalesced_read_kernel(Matrices a, TileGrid grid) {
  const Tile tile = place_lesson_tile(a, grid);
  const int column = static_cast<int>(threadIdx.x) % kWarpSize;
  for (int row = static_cast<int>(threadIdx.x) / kWarpSize; row < tile.rows; row += kLessonWarps) {
    if (column < tile.columns) *item_of_out(a, tile, column, row) = *item_of_in(a, tile, row, column);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  return launch_lesson(naive_coalesced_read_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
