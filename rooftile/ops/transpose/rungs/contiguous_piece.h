// A contiguous piece of global memory to and from shared memory, by 16-byte accesses where it is aligned.
#pragma once

#include "rooftile/ops/transpose/rungs/transpose_device.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

__device__ __forceinline__ bool is_vector_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kVecBytes == 0;
}

// By all threads of a one-dimensional block. `s_piece` is aligned to 16 bytes.
template <int kItemBytes>
__device__ __forceinline__ void load_piece(Access<kItemBytes>* s_piece, const char* g_piece, int items) {
  constexpr int kN = kVecBytes / kItemBytes;
  const int vectors = is_vector_aligned(g_piece) ? items / kN : 0;
  const int threads = static_cast<int>(blockDim.x);
  for (int v = static_cast<int>(threadIdx.x); v < vectors; v += threads) {
    reinterpret_cast<uint4*>(s_piece)[v] =
        load_bytes<kVecBytes, LoadPolicy::no_allocate>(g_piece + v * kVecBytes);
  }
  for (int i = vectors * kN + static_cast<int>(threadIdx.x); i < items; i += threads) {
    s_piece[i] = load_bytes<kItemBytes, LoadPolicy::no_allocate>(g_piece + i * kItemBytes);
  }
}

template <int kItemBytes>
__device__ __forceinline__ void store_piece(const Access<kItemBytes>* s_piece, char* g_piece, int items) {
  constexpr int kN = kVecBytes / kItemBytes;
  const int vectors = is_vector_aligned(g_piece) ? items / kN : 0;
  const int threads = static_cast<int>(blockDim.x);
  for (int v = static_cast<int>(threadIdx.x); v < vectors; v += threads) {
    store_bytes<kVecBytes>(g_piece + v * kVecBytes, reinterpret_cast<const uint4*>(s_piece)[v]);
  }
  for (int i = vectors * kN + static_cast<int>(threadIdx.x); i < items; i += threads) {
    store_bytes<kItemBytes>(g_piece + i * kItemBytes, s_piece[i]);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
