// Addresses in the shared memory of another block of the cluster, as PTX takes them.
#pragma once

#include <cstdint>

#include "rooftile/device/shared_address.h"
#include "rooftile/device/target.h"

#if !defined(ROOFTILE_SIM)
namespace rooftile::ROOFTILE_TARGET {

// The same place in the shared memory of the cluster's block `rank`. Source: PTX ISA, mapa.
__device__ __forceinline__ std::uint32_t remote_shared_address(const void* s_pointer, std::uint32_t rank) {
  std::uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(s_pointer)), "r"(rank));
  return address;
}

}  // namespace rooftile::ROOFTILE_TARGET
#endif
