// CUDA's header of this name, for kernels on the simulated SM.
#pragma once

#include "rooftile/sim/cuda_shim.h"
