// Where elements lie to the boundaries of vectors and lines, and vectors that lie across two aligned ones.
#pragma once

#include <cstdint>
#include <cstring>

#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET {

inline constexpr int kLineBytes = 128;  // what a cache keeps together

// The elements in front of the first line, at most n of them: from there on a warp's vectors touch no line twice.
template <class T>
__device__ __forceinline__ std::int64_t elements_to_line(const T* pointer, std::int64_t n) {
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer) % kLineBytes);
  const std::int64_t head = past == 0 ? 0 : (kLineBytes - past) / static_cast<std::int64_t>(sizeof(T));
  return head < n ? head : n;
}

// Moves the kHalf words that begin `shift` bytes behind the first one, shift < 4 kHalf, to the front. Of four words fifteen
// instructions. Source: CUDA C++ Programming Guide, __funnelshift_r.
template <int kHalf>
__device__ __forceinline__ void realign(std::uint32_t (&w)[2 * kHalf], unsigned shift) {
#pragma unroll
  for (int step = kHalf / 2; step >= 1; step /= 2) {
    const bool moved = (shift & static_cast<unsigned>(step * 4)) != 0;
#pragma unroll
    for (int i = 0; i < kHalf + step; ++i) w[i] = moved ? w[i + step] : w[i];
  }
#pragma unroll
  for (int i = 0; i < kHalf; ++i) w[i] = __funnelshift_r(w[i], w[i + 1], shift % 4 * 8);
}

// The 16 bytes that begin `shift` bytes behind `low`'s first, shift < 16, of two vectors that lie side by side.
__device__ __forceinline__ uint4 straddling_bytes(const uint4& low, const uint4& high, unsigned shift) {
  std::uint32_t w[8];
  memcpy(w, &low, sizeof(low));
  memcpy(w + 4, &high, sizeof(high));
  realign<4>(w, shift);
  return make_uint4(w[0], w[1], w[2], w[3]);
}

// Vectors of kVecBytes at addresses that are aligned to their elements alone. A load reads the two aligned vectors that
// cover one: bytes up to 15 in front of it and up to 15 behind it must be there to read.
template <class T>
class StraddlingVectors {
 public:
  __device__ __forceinline__ explicit StraddlingVectors(const T* g_first)
      : shift_(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(g_first) % kVecBytes)),
        g_low_(reinterpret_cast<const char*>(g_first) - shift_) {}
  __device__ __forceinline__ Vec<T, kVecElements<T>> load(std::int64_t i ROOFTILE_AND_CALLER) const {
    const char* g_low = g_low_ + i * kVecBytes;
    const uint4 raw = straddling_bytes(load_bytes<kVecBytes>(g_low ROOFTILE_AND_HERE),
                                       load_bytes<kVecBytes>(g_low + kVecBytes ROOFTILE_AND_HERE), shift_);
    Vec<T, kVecElements<T>> vec;
    memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
    return vec;
  }

 private:
  unsigned shift_;
  const char* g_low_;
};

}  // namespace rooftile::ROOFTILE_TARGET
