// The lanes turned round.
//
// Idea       neighbouring lanes write neighbours of a row; what they read is a column.
// Change     lanes along m in place of n. Reads of part of a sector can be served from L1 and L2 when the
//            neighbours come; stores of part of a sector cannot.
// Limits     4-byte items in rows.
// Bottleneck a warp's load touches 32 sectors.
// Source     Ruetsch and Micikevicius 2009, naive transpose.
#include "rooftile/ops/transpose/rungs/lesson_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

__global__ void __launch_bounds__(kLessonBlock) naive_coalesced_write_kernel(Matrices a, TileGrid grid) {
  const Tile tile = place_lesson_tile(a, grid);
  const int row = static_cast<int>(threadIdx.x) % kWarpSize;
  for (int column = static_cast<int>(threadIdx.x) / kWarpSize; column < tile.columns;
       column += kLessonWarps) {
    if (row < tile.rows) *item_of_out(a, tile, column, row) = *item_of_in(a, tile, row, column);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  return launch_lesson(naive_coalesced_write_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
