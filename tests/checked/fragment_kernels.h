// The kernels of mma, ldmatrix and stmatrix in the checked build's tests: host functions that launch one block, once.
#pragma once

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET checked  // the tests themselves, which are host code, call the checked kernels
#endif

namespace rooftile::ROOFTILE_TARGET::checked_tests {

// A block of 64 with a planted bug each.
enum class FragmentBug {
  none,
  mma_missing_lane,
  mma_two_lines,
};
Status run_fragment_bug(StreamRef stream, FragmentBug bug, const unsigned short* g_in, float* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
