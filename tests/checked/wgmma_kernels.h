// wgmma in the checked build's tests: host functions that launch one block, once.
#pragma once

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET checked  // the tests themselves, which are host code, call the checked kernels
#endif

namespace rooftile::ROOFTILE_TARGET::checked_tests {

// A warpgroup with a planted bug each. g_in: 64 x 64 halves; g_out: 128 sums, or more.
enum class WgmmaBug {
  none,
  none_first_overwritten,
  none_fragments,
  none_ring,
  sum_read_early,
  sum_read_of_newest_group,
  sum_written_early,
  not_committed,
  no_fence_at_all,
  sum_written_without_fence,
  fragment_without_fence,
  fragment_overwritten,
  no_proxy_fence,
  proxy_fence_behind_barrier,
  no_barrier,
  operand_overwritten,
  operand_overwritten_by_copy,
  newest_operand_overwritten,
  uninitialised_operand,
  stage_not_waited_for,
  stage_of_wrong_phase,
  stage_released_early,
  not_waited_for,
  warp_does_not_come,
  none_registers,
  registers_of_three_warps,
};
Status run_wgmma_bug(StreamRef stream, WgmmaBug bug, const unsigned short* g_in, float* g_out);

// One product of this width with b in tiles of this swizzle, K-major or N-major, a from shared memory or registers.
Status run_wgmma_reads(StreamRef stream, int columns, int swizzle, bool mn_major, bool a_in_registers,
                       float* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
