// Vectors without a candidate, told from the others by a few instructions.
#pragma once

#include <cstdint>
#include <cstring>

#include "rooftile/device/vec.h"
#include "rooftile/ops/topk/topk_ranks.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {

// Tells of most vectors at once that they have no element that is not below a threshold.
template <class Order>
class Sieve {
 public:
  using Bits = typename Order::Bits;
  using Rank = typename Order::Rank;

  // The threshold is an element of the row, or the lowest rank.
  __device__ __forceinline__ Sieve(const Order& order, const Bits* g_row, const Rank& threshold)
      : order_(order),
        place_(static_cast<Bits>(Ranks<Rank>::key(threshold) >> Order::kShift)),
        index_(Ranks<Rank>::index(threshold)) {
    if constexpr (Order::kIsFloat) {
      if (!is_above(threshold, Ranks<Rank>::lowest())) return;
      // Floats from a positive number upwards, or from a negative one downwards, have its magnitude at least, and so have NaNs.
      const Bits bits = g_row[index_];
      const Bits magnitude = magnitude_of(bits);
      if (((bits ^ order.turn) & Order::kSign) == 0 && magnitude <= order.infinity) magnitude_ = magnitude;
    }
  }
  // A bit for each vector that may have one. `first`: the index that all their elements have at least.
  template <int kCount>
  [[nodiscard]] __device__ __forceinline__ unsigned passed(const uint4 (&vectors)[kCount],
                                                           std::int64_t first) const {
    // Behind the threshold equal elements are below it.
    const Bits more = first > std::int64_t{index_} ? 1 : 0;
    unsigned passed = 0;
    if (magnitude_ != 0) {
      const auto least = static_cast<Bits>(magnitude_ + more);
#pragma unroll
      for (int v = 0; v < kCount; ++v) passed |= any_magnitude_from(vectors[v], least) ? 1u << v : 0u;
    } else {
      const auto least = static_cast<Bits>(place_ + more);
      if (least < place_) return 0;
#pragma unroll
      for (int v = 0; v < kCount; ++v) passed |= any_place_from(vectors[v], least) ? 1u << v : 0u;
    }
    return passed;
  }

 private:
  [[nodiscard]] __device__ __forceinline__ static Bits magnitude_of(Bits bits) {
    return static_cast<Bits>(bits & static_cast<Bits>(~Order::kSign));
  }
  [[nodiscard]] __device__ __forceinline__ static Vec<Bits, kVecElements<Bits>> elements_of(
      const uint4& vector) {
    Vec<Bits, kVecElements<Bits>> vec;
    memcpy(static_cast<void*>(&vec), &vector, kVecBytes);
    return vec;
  }
  [[nodiscard]] __device__ __forceinline__ static bool any_magnitude_from(const uint4& vector, Bits least) {
    if constexpr (sizeof(Bits) == 2) {
      // Two to a word: a sum's highest bit says that it is not below 2^15.
      const std::uint32_t rest = (0x8000u - least) * 0x00010001u;
      const auto sums = [&](std::uint32_t word) { return (word & 0x7fff7fffu) + rest; };
      return ((sums(vector.x) | sums(vector.y) | sums(vector.z) | sums(vector.w)) & 0x80008000u) != 0;
    } else {
      const auto vec = elements_of(vector);
      bool is_any = false;
#pragma unroll
      for (int j = 0; j < kVecElements<Bits>; ++j) is_any = is_any || magnitude_of(vec[j]) >= least;
      return is_any;
    }
  }
  [[nodiscard]] __device__ __forceinline__ bool any_place_from(const uint4& vector, Bits least) const {
    if constexpr (sizeof(Bits) == 1) {
      // Two to a word: a sum's bit 8 says that it is not below 2^8.
      const std::uint32_t flips = order_.place(Bits{0}) * 0x01010101u;
      const std::uint32_t rest = (0x100u - least) * 0x00010001u;
      const auto sums = [&](std::uint32_t word) {
        return (((word ^ flips) & 0x00ff00ffu) + rest) | (((word ^ flips) >> 8 & 0x00ff00ffu) + rest);
      };
      return ((sums(vector.x) | sums(vector.y) | sums(vector.z) | sums(vector.w)) & 0x01000100u) != 0;
    } else {
      const auto vec = elements_of(vector);
      bool is_any = false;
#pragma unroll
      for (int j = 0; j < kVecElements<Bits>; ++j) is_any = is_any || order_.place(vec[j]) >= least;
      return is_any;
    }
  }

  const Order& order_;
  Bits place_;
  std::uint32_t index_;
  Bits magnitude_ = 0;  // 0: places are compared
};

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
