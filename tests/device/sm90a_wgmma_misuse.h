// What goes wrong with wgmma: kernels for the simulated SM alone.
#pragma once

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile {
namespace testing_sm90a {

enum class WgmmaMisuse {
  none,
  read_before_wait,
  newest_group_read,
  operand_overwritten,
  fragment_overwritten,
  never_committed,
  never_waited,
  one_warp_does_not_commit,
  one_warp_multiplies_otherwise,
  no_warpgroup,
  misaligned_tile,
  distance_of_8_bytes,
  operand_outside,
};

inline constexpr int kWgmmaMisuseThreads = 128;
}  // namespace testing_sm90a

namespace sim {
// Every element of a and b is 1, sums start as 5, and 16 products of 1 are added twice, in two groups. g_out: the first
// sum of each thread, at the end.
Status run_wgmma_misuse(StreamRef stream, testing_sm90a::WgmmaMisuse misuse, float* g_out);
}  // namespace sim
namespace cuda {
Status run_wgmma_misuse(StreamRef stream, testing_sm90a::WgmmaMisuse misuse, float* g_out);
}
}  // namespace rooftile
