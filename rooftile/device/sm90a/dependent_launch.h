// Programmatic dependent launch: a kernel launched with LaunchConfig::dependent
// may start while the kernel ahead of it in the stream still runs, and does what
// needs none of its results (barriers, tensor maps, addresses) in the meantime.
//
//   kernel A:  ... last long stretch of work    launch_dependents() ... writes results, returns
//   kernel B:                    prologue       wait_for_prerequisites()  reads the results of A
//
// Source: PTX ISA, Parallel Synchronization and Communication Instructions: griddepcontrol.
#pragma once

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

// Returns when the kernels ahead have finished and what they wrote is visible. Returns at once in a launch
// that is not dependent. Before the first access to anything that they write or still read.
// On the simulated SM launches run one after the other: a missing wait does not show there.
__device__ __forceinline__ void wait_for_prerequisites() {
#if !defined(ROOFTILE_SIM)
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel start once every block of this grid has called it or returned. A hint for its start
// alone: it still waits for this grid's end where it calls wait_for_prerequisites().
__device__ __forceinline__ void launch_dependents() {
#if !defined(ROOFTILE_SIM)
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace rooftile::ROOFTILE_TARGET
