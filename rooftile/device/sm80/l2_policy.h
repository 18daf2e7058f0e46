// What L2 does with the lines that a load, a copy or a prefetch brings: a value that is made once and handed to each.
//
//   const L2Policy policy = l2_evict_first();
//   tma_load_by_policy(s_tile, map, {x, y}, &s_full, policy);
//
// Lines that leave first make room for each other: what is read once drives out nothing else, and behind a
// kernel that wrote much nothing has to be written back for it. Nor does it find room from one launch to the
// next where L2 is full of ordinary lines: what L2 is to hold comes as ordinary lines.
// Lines that leave last stay there behind the kernel, too, until they are used as others are: passing_rows.h.
// Source: PTX ISA, createpolicy, cache eviction priority hints.
#pragma once

#include <cstdint>

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

struct L2Policy {
  std::uint64_t bits;
};

#if defined(ROOFTILE_SIM)

// There is no L2 to tell.
inline L2Policy l2_evict_first() { return {1}; }
inline L2Policy l2_evict_normal() { return {0}; }
inline L2Policy l2_evict_last() { return {2}; }

#else

__device__ __forceinline__ L2Policy l2_evict_first() {
  L2Policy policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy.bits));
  return policy;
}
__device__ __forceinline__ L2Policy l2_evict_normal() {
  L2Policy policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy.bits));
  return policy;
}
__device__ __forceinline__ L2Policy l2_evict_last() {
  L2Policy policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy.bits));
  return policy;
}

#endif

}  // namespace rooftile::ROOFTILE_TARGET
