// Atomic additions of 16-bit floats.
#pragma once

#include <cstdint>

#include "rooftile/device/types.h"

namespace rooftile::ROOFTILE_TARGET {

// Two elements of T side by side: __half2 of __half, __nv_bfloat162 of __nv_bfloat16.
__device__ __forceinline__ __half2 pair_of(__half low, __half high) { return __halves2half2(low, high); }
__device__ __forceinline__ __nv_bfloat162 pair_of(__nv_bfloat16 low, __nv_bfloat16 high) {
  return __halves2bfloat162(low, high);
}
template <class T>
using PairOf = decltype(pair_of(T{}, T{}));

// base[index] += value, of `length` elements. A GPU adds 16 bits by a loop of compare-and-swap on the word that holds
// them, and two floats of 16 bits by one instruction: where the element's neighbour in the aligned word is one of the
// `length`, -0 is added to it, which changes no number (+0 would make +0 of a -0), and turns a signalling NaN quiet.
// Source: PyTorch, fastAtomicAdd.
template <class T>
__device__ __forceinline__ void fast_atomic_add(T* base, std::int64_t index, std::int64_t length, T value) {
  static_assert(sizeof(T) == 2, "wider types have an instruction of their own");
  T* address = base + index;
  const bool is_low = reinterpret_cast<std::uintptr_t>(address) % 4 == 0;
  const T none(-0.0f);
  if (is_low && index + 1 < length) {
    atomicAdd(reinterpret_cast<PairOf<T>*>(address), pair_of(value, none));
  } else if (!is_low && index > 0) {
    atomicAdd(reinterpret_cast<PairOf<T>*>(address - 1), pair_of(none, value));
  } else {
    atomicAdd(address, value);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET
