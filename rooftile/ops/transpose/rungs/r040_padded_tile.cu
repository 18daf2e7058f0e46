// One word per row against the bank conflict.
//
// Idea       rows of 33 words: the items of a column lie one bank apart.
// Change     the pitch.
// Limits     4-byte items in rows.
// Bottleneck instructions and bytes in flight: 4 bytes per load, four loads per thread.
// Source     Ruetsch and Micikevicius 2009, shared memory bank conflicts.
#include "rooftile/ops/transpose/rungs/lesson_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

__global__ void __launch_bounds__(kLessonBlock) padded_tile_kernel(Matrices a, TileGrid grid) {
  __shared__ float s_tile[kLessonTile][kLessonTile + 1];
  transpose_lesson_tile(a, grid, s_tile);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  return launch_lesson(padded_tile_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
