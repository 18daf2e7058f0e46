// Who called: on the simulated SM the building blocks pass their caller's source line down, so that a report
// names the kernel's line and not the block's. On CUDA nothing is passed.
//
//   __device__ void f(int x ROOFTILE_AND_CALLER) { __syncthreads(ROOFTILE_HERE); g(x ROOFTILE_AND_HERE); }
#pragma once

#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include <source_location>
#define ROOFTILE_CALLER std::source_location where = std::source_location::current()
#define ROOFTILE_AND_CALLER , ROOFTILE_CALLER
#define ROOFTILE_HERE where
#define ROOFTILE_AND_HERE , where
#else
#define ROOFTILE_CALLER
#define ROOFTILE_AND_CALLER
#define ROOFTILE_HERE
#define ROOFTILE_AND_HERE
#endif
