// The 32-bit address within shared memory that PTX takes.
#pragma once

#include <cstdint>

#include "rooftile/device/target.h"

#if !defined(ROOFTILE_SIM)
namespace rooftile::ROOFTILE_TARGET {

__device__ __forceinline__ std::uint32_t shared_address(const void* s_pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(s_pointer));
}

}  // namespace rooftile::ROOFTILE_TARGET
#endif
