// Kernels that use memcpy and memset on shared memory, rightly and wrongly.
#pragma once

#include "tests/checked/kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {

// A block of 64; g_in and g_out hold 64 values.
enum class MemoryUse {
  fill_then_read,
  copy_then_read,
  copy_races,
  fill_races,
  copy_uninitialised,
  copy_behind
};
Status run_memory_use(StreamRef stream, MemoryUse use, const int* g_in, int* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
