// Turn the tile where turning is cheap.
//
// Idea       a tile goes into shared memory by rows and comes out by columns: both sides of global memory see
//            whole rows.
// Change     every global access fills its 128 bytes; one barrier.
// Limits     4-byte items in rows.
// Bottleneck a column of a 32-word pitch lies in one bank: the 32 lanes of a load take turns.
// Source     Ruetsch and Micikevicius 2009, coalesced transpose.
#include "rooftile/ops/transpose/rungs/lesson_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

__global__ void __launch_bounds__(kLessonBlock) shared_tile_kernel(Matrices a, TileGrid grid) {
  __shared__ float s_tile[kLessonTile][kLessonTile];
  transpose_lesson_tile(a, grid, s_tile);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  return launch_lesson(shared_tile_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
