// setmaxnreg: a warpgroup gives back registers that it does not need, or takes more of those that others gave back.
//
//   __global__ void __launch_bounds__(384, 1) kernel(...) {   // 168 registers for each thread
//     if (threadIdx.x < 128) {
//       setmaxnreg_dec<40>();   // who loads
//       ...
//     } else {
//       setmaxnreg_inc<232>();  // who multiplies: 40 * 128 + 232 * 256 are the 168 * 384 of before
//       ...
//     }
//   }
//
// kRegisters, of each thread, is a multiple of 8 in 24 to 256. dec: less than the thread has; inc: more, and it waits until
// the block has so many to give: those of a launch and those that were given back. All four warps of a warpgroup run the
// same call; between two of them they meet (__syncthreads, or a barrier of theirs).
//
// It has an effect where the kernel has a limit of registers from the start (__launch_bounds__ with both numbers, or
// maxrregcount) and each warpgroup's part is one branch; else ptxas ignores it, and says so (C7508).
// It refuses a dec to more than the kernel uses anyway (C7406).
//
// The simulated SM has no registers: it checks that whole warpgroups make the same calls, and that a warpgroup that has been
// told its number takes more by inc and less by dec. Whether the block has so many it does not know.
//
// Source: PTX ISA, Miscellaneous Instructions: setmaxnreg.
#pragma once

#include <cstdint>

#include "rooftile/device/caller.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/setmaxnreg.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

inline constexpr bool is_register_count(int registers) {
  return registers % 8 == 0 && registers >= 24 && registers <= 256;
}

template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_inc(ROOFTILE_CALLER) {
  static_assert(is_register_count(kRegisters), "a multiple of 8 in 24 to 256");
#if defined(ROOFTILE_SIM)
  simt::detail::setmaxnreg({.registers = kRegisters, .increases = true}, where);
#else
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}

template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_dec(ROOFTILE_CALLER) {
  static_assert(is_register_count(kRegisters), "a multiple of 8 in 24 to 256");
#if defined(ROOFTILE_SIM)
  simt::detail::setmaxnreg({.registers = kRegisters, .increases = false}, where);
#else
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}

}  // namespace rooftile::ROOFTILE_TARGET
