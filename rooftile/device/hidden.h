// What the compiler is not to know.
#pragma once

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

// x, of which the compiler does not know whence it comes: what follows from it is computed where it stands, not in front of the loop
// and kept in registers all along.
__device__ __forceinline__ int hidden(int x) {
#if !defined(ROOFTILE_SIM)
  asm volatile("" : "+r"(x));
#endif
  return x;
}

}  // namespace rooftile::ROOFTILE_TARGET
