// Addresses in shared memory as PTX takes them: 32 bits in the shared window.
#pragma once

#include <cstdint>

#include "rooftile/device/target.h"

#if !defined(ROOFTILE_SIM)
namespace rooftile::ROOFTILE_TARGET {

__device__ __forceinline__ std::uint32_t shared_address(const void* s_pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(s_pointer));
}

// The same place in the shared memory of the cluster's block `rank`. Source: PTX ISA, mapa.
__device__ __forceinline__ std::uint32_t remote_shared_address(const void* s_pointer, std::uint32_t rank) {
  std::uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(s_pointer)), "r"(rank));
  return address;
}

}  // namespace rooftile::ROOFTILE_TARGET
#endif
