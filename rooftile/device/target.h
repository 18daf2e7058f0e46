// First include of every kernel source and device header:
// makes CUDA's names known for the target that is compiled.
//
// nvcc compiles for `cuda`. A host compiler compiles the same sources with
// ROOFTILE_TARGET=sim for the simulated SM. All kernels and device code live in
// namespace rooftile::ROOFTILE_TARGET, so that every target links into one program.
#pragma once

#if defined(__CUDACC__)

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET cuda
#endif

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>

// T* name: the launch's dynamic shared memory, aligned to 1024 bytes (what swizzled tiles ask for).
#define ROOFTILE_DYN_SHARED(T, name)                                                \
  extern __shared__ __align__(1024) unsigned char rooftile_dynamic_shared_memory[]; \
  T* const name = reinterpret_cast<T*>(rooftile_dynamic_shared_memory)

namespace rooftile::ROOFTILE_TARGET {}

#else

#if !defined(ROOFTILE_TARGET)
#error "device code is compiled by nvcc, or by a host compiler with -DROOFTILE_TARGET=sim -DROOFTILE_SIM=1"
#endif

#include "rooftile/sim/cuda_shim.h"

namespace rooftile::ROOFTILE_TARGET {
// The shim stands in for global names.
using namespace ::rooftile::simt;  // NOLINT(google-build-using-namespace)
}  // namespace rooftile::ROOFTILE_TARGET

#endif
