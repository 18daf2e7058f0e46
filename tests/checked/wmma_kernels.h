// The kernels of the matrix operations in the checked build's tests: host functions that launch one block, once.
#pragma once

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET checked  // the tests themselves, which are host code, call the checked kernels
#endif

namespace rooftile::ROOFTILE_TARGET::checked_tests {

// One warp loads a tile of 16 x 16, row-major, stride `ldm`: of matrix_a, or of an accumulator, which it
// stores. The tile lies in shared memory, all of which was written before, or in global memory.
enum class WmmaTile { half_a, half_a_transposed, half_b, bfloat16_a, byte_a, float_sum };
Status run_wmma_tile(StreamRef stream, WmmaTile tile, bool in_shared, unsigned ldm, const void* g_matrix,
                     float* g_out);

// A block of 64 with a planted bug: shared tiles of halves, their product in g_out, 256 floats for each warp.
enum class WmmaBug {
  none,
  load_without_barrier,
  load_without_syncwarp,
  store_without_barrier,
  uninitialised_tile,
  load_behind,
  store_behind,
  missing_lane,
};
Status run_wmma_bug(StreamRef stream, WmmaBug bug, const unsigned short* g_in, float* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
