// Elements that begin and end anywhere, as the aligned vectors that cover them: the first and the last may hang over.
#pragma once

#include <cstdint>

#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET {

// Vector v holds elements index(v) ... index(v) + kElements - 1; those whose bit in mask(v) is set are there.
template <class T>
struct CoveringVectors {
  static constexpr int kElements = kVecElements<T>;
  static_assert(kElements <= 32, "a bit of a mask for each");
  const T* g_first;
  std::int64_t n;
  std::int64_t skew;     // elements of the first vector that stand in front of g_first
  std::int64_t vectors;  // all of them

  // g_first is aligned to an element.
  __device__ __forceinline__ static CoveringVectors of(const T* g_first, std::int64_t n) {
    const auto skew =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(g_first) % kVecBytes / sizeof(T));
    return {g_first, n, skew, (n + skew + kElements - 1) / kElements};
  }
  // Below 0 where the vector hangs over.
  [[nodiscard]] __device__ __forceinline__ std::int64_t index(std::int64_t vector) const {
    return vector * kElements - skew;
  }
  [[nodiscard]] __device__ __forceinline__ bool is_whole(std::int64_t vector) const {
    return index(vector) >= 0 && index(vector) + kElements <= n;
  }
  // 0 for vectors behind the last.
  [[nodiscard]] __device__ __forceinline__ unsigned mask(std::int64_t vector) const {
    constexpr unsigned kAll = static_cast<unsigned>((std::uint64_t{1} << kElements) - 1u);
    if (vector >= vectors) return 0;
    if (is_whole(vector)) return kAll;
    unsigned mask = 0;
#pragma unroll
    for (int j = 0; j < kElements; ++j) {
      const std::int64_t i = index(vector) + j;
      if (i >= 0 && i < n) mask |= 1u << j;
    }
    return mask;
  }
  // Elements whose bit is not set are T{}. Of one of the vectors.
  [[nodiscard]] __device__ __forceinline__ Vec<T, kElements> load(std::int64_t vector) const {
    const std::int64_t first = index(vector);
    if (is_whole(vector)) return load_vec(g_first + first);
    Vec<T, kElements> vec;
#pragma unroll
    for (int j = 0; j < kElements; ++j) {
      const std::int64_t i = first + j;
      vec[j] = i >= 0 && i < n ? g_first[i] : T{};
    }
    return vec;
  }
};

}  // namespace rooftile::ROOFTILE_TARGET
