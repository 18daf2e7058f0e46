// The kernels of mma, ldmatrix and stmatrix in the checked build's tests: host functions that launch one block, once.
#pragma once

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET checked  // the tests themselves, which are host code, call the checked kernels
#endif

namespace rooftile::ROOFTILE_TARGET::checked_tests {

// One warp reads, or writes, four matrices in shared memory, all of which was written before: row r at byte r * pitch;
// `shared_rows`: rows 2 i and 2 i + 1 are both row 2 i. Reading, it gives its registers.
enum class RowsOp { load, load_transposed, store, store_transposed };
Status run_fragment_rows(StreamRef stream, RowsOp op, unsigned pitch, bool shared_rows, unsigned* g_out);

// A block of 64 with a planted bug each.
enum class FragmentBug {
  none,
  mma_missing_lane,
  mma_two_lines,
  none_rows,
  load_without_barrier,
  load_without_syncwarp,
  load_uninitialised,
  load_missing_lane,
  store_over_read,
  store_read_without_syncwarp,
};
Status run_fragment_bug(StreamRef stream, FragmentBug bug, const unsigned short* g_in, float* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
