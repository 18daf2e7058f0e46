// A vector as it was loaded: four registers, where its 16-bit elements would take one each. It is taken apart where it is used.
#pragma once

#include <cstring>

#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET {

using RawVector = Access<kVecBytes>;

template <class T>
__device__ __forceinline__ Vec<T, kVecElements<T>> as_vector(const RawVector& raw) {
  Vec<T, kVecElements<T>> vec;
  memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
  return vec;
}
template <class T, int kCount>
__device__ __forceinline__ RawVector bits_of(const Vec<T, kCount>& vec) {
  static_assert(sizeof(vec) == kVecBytes);
  RawVector raw;
  memcpy(&raw, static_cast<const void*>(&vec), sizeof(raw));
  return raw;
}

// Replaces raw by what stands at g, if that is there.
struct LoadVectorIf {
  __device__ __forceinline__ void operator()(bool is_there, const void* g, RawVector& raw) const {
    if (is_there) raw = load_bytes<kVecBytes>(g);
  }
};

}  // namespace rooftile::ROOFTILE_TARGET
