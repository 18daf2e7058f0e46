// The CUDA names that kernel sources use, for a host compiler. Names live in rooftile::simt, so that other
// parts of the program may include CUDA's own headers; qualifiers and built-in variables are macros.
//
// Not modelled: mipmaps, 3-D and layered textures, inline PTX (wrappers of device/ have a host body), dynamic
// parallelism, streams (a launch returns when it has finished). Dynamic shared memory is poisoned before each
// block; static shared memory keeps what the OS thread's last block left in it. One block of an OS thread
// runs at a time, so a __shared__ variable is a static thread_local one.
#pragma once

// Included before the qualifier macros: libstdc++ spells attributes with some of these names.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "rooftile/sim/atomics.h"
#include "rooftile/sim/bfloat16.h"
#include "rooftile/sim/collectives.h"
#include "rooftile/sim/device_io.h"
#include "rooftile/sim/half.h"
#include "rooftile/sim/integer_intrinsics.h"
#include "rooftile/sim/intrinsics.h"
#include "rooftile/sim/math.h"
#include "rooftile/sim/memory_functions.h"
#include "rooftile/sim/real16_conversions.h"
#include "rooftile/sim/rounding.h"
#include "rooftile/sim/simd_intrinsics.h"
#include "rooftile/sim/special_functions.h"
#include "rooftile/sim/texture_functions.h"
#include "rooftile/sim/thread.h"
#include "rooftile/sim/vector_types.h"

namespace rooftile::simt::detail {
// Of alignas(16) and of alignas(float4).
template <std::size_t kBytes>
consteval std::size_t alignment_of() {
  return kBytes;
}
template <class T>
consteval std::size_t alignment_of() {
  return alignof(T);
}
}  // namespace rooftile::simt::detail

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wkeyword-macro"  // asm, alignas: kernels alone see them
#endif
// NOLINTBEGIN(bugprone-reserved-identifier)
// A Hopper by CUDA 13: no code vanishes behind a question for the architecture or the toolkit.
#define __CUDA_ARCH__ 900
#define CUDART_VERSION 13000
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
// The name is the message: a wrapper of device/ has a body for the host, too.
#define asm inline_PTX_is_not_simulated_write_a_wrapper_with_a_host_body
#if defined(ROOFTILE_SIM_CHECKED)
// g++ instruments no store that a call makes of what it returns: a kernel calls nothing that it can hold itself.
#define __global__ __attribute__((flatten))
#define __noinline__
#else
#define __global__
#define __noinline__ __attribute__((noinline))
#endif
#define __device__
#define __host__
// In a section of its own, by which the checker knows it; used: what nobody writes would become a literal.
#define __constant__ __attribute__((used, section("rooftile_constant")))
#define __shared__ thread_local
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_assume(condition) static_cast<void>(0)
// The keyword may not stand behind __shared__, where CUDA's sources have it; the attribute may stand anywhere.
#define alignas(...) __attribute__((aligned(::rooftile::simt::detail::alignment_of<__VA_ARGS__>())))
// NOLINTEND(bugprone-reserved-identifier)
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#define threadIdx (::rooftile::simt::detail::thread_index())
#define blockIdx (::rooftile::simt::detail::block_index())
#define blockDim (::rooftile::simt::detail::block_extent())
#define gridDim (::rooftile::simt::detail::grid_extent())

// T* name: the launch's dynamic shared memory, aligned to 1024 bytes.
#define ROOFTILE_DYN_SHARED(T, name) \
  T* const name = static_cast<T*>(::rooftile::simt::detail::dynamic_shared())
