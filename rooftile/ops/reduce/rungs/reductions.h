// The reductions of reduce as types (reduce_functor.h says what such a type is).
//
// One compiled reduction serves several element types and operations: `flip` (device/flip.h) makes them alike at run time.
// Sums are given the sign bit of signed integers (*), minima and maxima the patterns of their order.
//
// (*) which adds 2^(bits - 1) to each; the store subtracts it again. Element types are therefore the unsigned
// integers and the floats alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/device/flip.h"
#include "rooftile/device/real_output.h"
#include "rooftile/ops/reduce/reduce_output.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {

template <class T>
inline constexpr bool kIsElement = std::is_floating_point_v<T> || std::is_unsigned_v<T> ||
                                   dtype_of<T> == DType::f16 || dtype_of<T> == DType::bf16;

// What sums of T are accumulated in.
template <class T>
using SumAcc = std::conditional_t<std::is_same_v<T, double>, double,
                                  std::conditional_t<std::is_integral_v<T>, std::uint64_t, float>>;

// What T is compared in: at least 32 bits, so that a warp exchanges it by one shuffle.
template <class T>
using CompareAcc =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>, SumAcc<T>>;

__device__ __forceinline__ RealOutput real_output(const ReduceOutput& out) { return {out.data, out.dtype}; }

// The sum of 16 bytes: two bytes to a 32-bit word, 16 bits apart, where eight of them cannot overflow.
__device__ __forceinline__ std::uint32_t sum_of_bytes(const Vec<std::uint8_t, 16>& x) {
  constexpr unsigned kEven = 0x00ff00ffu;
  unsigned words[4];
  memcpy(words, &x, sizeof(words));
  unsigned pairs = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) pairs += (words[i] & kEven) + (words[i] >> 8 & kEven);
  return (pairs & 0xffffu) + (pairs >> 16);
}

template <class T>
struct Sum {
  static_assert(kIsElement<T>, "signed integers are summed as unsigned ones, see `flip`");
  using In = T;
  using Acc = SumAcc<T>;
  std::uint64_t flip = 0;  // integers: the sign bits where In stands for a signed type

  __device__ __forceinline__ Acc identity() const { return Acc{0}; }
  __device__ __forceinline__ Acc combine(Acc a, Acc b) const { return a + b; }
  __device__ __forceinline__ Acc take(Acc acc, In x, std::int64_t) const {
    if constexpr (std::is_integral_v<T>) x = flipped(x, flip);
    return acc + static_cast<Acc>(x);
  }

  // A vector at once: a tree of its elements, then one addition to the chain; narrow integers meet in 32
  // bits.
  template <int kCount>
  __device__ __forceinline__ Acc take(Acc acc, const Vec<In, kCount>& x, std::int64_t) const {
    if constexpr (sizeof(T) == 1) {
      return acc + sum_of_bytes(flipped(x, flip));
    } else if constexpr (std::is_integral_v<T>) {
      return acc + tree_sum(flipped(x, flip));
    } else {
      return acc + tree_sum(x);
    }
  }

  __device__ __forceinline__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
    if constexpr (std::is_integral_v<T>) {
      acc -= static_cast<std::uint64_t>(static_cast<T>(flip)) * static_cast<std::uint64_t>(out.count);
      if (out.mean) {
        const double sum =
            flip != 0 ? static_cast<double>(static_cast<std::int64_t>(acc)) : static_cast<double>(acc);
        real_output(out).store(i, sum / static_cast<double>(out.count));
      } else {
        static_cast<Acc*>(out.data)[i] = acc;
      }
    } else {
      real_output(out).store(i, out.mean ? acc / static_cast<Acc>(out.count) : acc);
    }
  }

 private:
  template <int kCount>
  __device__ __forceinline__ static Acc tree_sum(const Vec<In, kCount>& x) {
    using Narrow = std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4), std::uint32_t, Acc>;
    Narrow tree[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) tree[i] = static_cast<Narrow>(x[i]);
#pragma unroll
    for (int width = kCount / 2; width > 0; width /= 2) {
#pragma unroll
      for (int i = 0; i < width; ++i) tree[i] += tree[i + width];
    }
    return static_cast<Acc>(tree[0]);
  }
};

// Keys: the larger one wins, and NaN is larger than all.
template <class Key>
__device__ __forceinline__ Key lowest_key() {
  if constexpr (std::is_floating_point_v<Key>) {
    return -static_cast<Key>(INFINITY);
  } else {
    return 0;
  }
}
template <class Key>
__device__ __forceinline__ bool is_nan(Key key) {
  return std::is_floating_point_v<Key> && key != key;
}

// The largest of 16 bytes of narrow integers, two to an instruction. Of bytes, the odd ones decide the order of
// the 16-bit halves that they are the upper part of; the even ones are compared by themselves.
template <class T, int kCount>
__device__ __forceinline__ std::uint32_t largest_of(const Vec<T, kCount>& x) {
  std::uint32_t words[4];
  memcpy(words, &x, sizeof(words));
  const std::uint32_t halves = __vmaxu2(__vmaxu2(words[0], words[1]), __vmaxu2(words[2], words[3]));
  const std::uint32_t upper = halves >> 16;
  const std::uint32_t lower = halves & 0xffffu;
  const std::uint32_t largest = upper > lower ? upper : lower;
  if constexpr (sizeof(T) == 2) return largest;
  constexpr std::uint32_t kEven = 0x00ff00ffu;
  const std::uint32_t even =
      __vmaxu2(__vmaxu2(words[0] & kEven, words[1] & kEven), __vmaxu2(words[2] & kEven, words[3] & kEven));
  const std::uint32_t even_upper = even >> 16;
  const std::uint32_t even_lower = even & 0xffffu;
  const std::uint32_t even_largest = even_upper > even_lower ? even_upper : even_lower;
  return largest >> 8 > even_largest ? largest >> 8 : even_largest;
}

// The maximum, or by `flip` the minimum.
template <class T>
struct Extreme {
  static_assert(kIsElement<T>, "signed integers are compared as unsigned ones, see `flip`");
  using In = T;
  using Acc = CompareAcc<T>;
  std::uint64_t flip = 0;

  __device__ __forceinline__ Acc identity() const { return lowest_key<Acc>(); }
  // NaN wins from either side: an ordered comparison with it is false.
  __device__ __forceinline__ Acc combine(Acc a, Acc b) const { return a > b || is_nan(a) ? a : b; }
  __device__ __forceinline__ Acc take(Acc acc, In x, std::int64_t) const {
    return combine(acc, static_cast<Acc>(flipped(x, flip)));
  }
  template <int kCount>
  __device__ __forceinline__ Acc take(Acc acc, const Vec<In, kCount>& x, std::int64_t) const {
    const Vec<In, kCount> keys = flipped(x, flip);
    if constexpr (std::is_integral_v<In> && sizeof(In) < 4) {
      const Acc largest = largest_of(keys);
      return acc > largest ? acc : largest;
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) acc = combine(acc, static_cast<Acc>(keys[i]));
      return acc;
    }
  }
  __device__ __forceinline__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
    static_cast<In*>(out.data)[i] = flipped(static_cast<In>(acc), flip);
  }
};

// A key and where it stands; 8 bytes where the key has 4, so that the pair is 16 with its index.
template <class Key>
struct KeyAt {
  Key key;
  std::int64_t index;
};

// Where the maximum, or by `flip` the minimum, stands first.
template <class T>
struct ArgExtreme {
  using In = T;
  using Key = CompareAcc<T>;
  using Acc = KeyAt<Key>;
  static constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::max();
  std::uint64_t flip = 0;

  __device__ __forceinline__ Acc identity() const { return {lowest_key<Key>(), kNowhere}; }
  // The larger key; among equals the lower index.
  __device__ __forceinline__ Acc combine(Acc a, Acc b) const {
    bool first = a.key > b.key;
    bool equal = a.key == b.key;
    if constexpr (std::is_floating_point_v<Key>) {
      const bool a_nan = a.key != a.key;
      const bool b_nan = b.key != b.key;
      first = (first && !b_nan) || (a_nan && !b_nan);
      equal = equal || (a_nan && b_nan);
    }
    return first || (equal && a.index < b.index) ? a : b;
  }
  __device__ __forceinline__ Acc take(Acc acc, In x, std::int64_t index) const {
    return combine(acc, {static_cast<Key>(flipped(x, flip)), index});
  }
  // Vectors come in the order of their indices, so that among equals the accumulator stays. It changes
  // seldom: the place in the vector is looked for only then.
  template <int kCount>
  __device__ __forceinline__ Acc take(Acc acc, const Vec<In, kCount>& x, std::int64_t index) const {
    const Vec<In, kCount> keys = flipped(x, flip);
    Key best = static_cast<Key>(keys[0]);
#pragma unroll
    for (int i = 1; i < kCount; ++i) best = Extreme<In>{}.combine(best, static_cast<Key>(keys[i]));
    const bool better = best > acc.key || (is_nan(best) && !is_nan(acc.key));
    if (better || acc.index == kNowhere) {
      acc.key = best;
#pragma unroll
      for (int i = kCount - 1; i >= 0; --i) {
        const Key key = static_cast<Key>(keys[i]);
        if (key == best || (is_nan(key) && is_nan(best))) acc.index = index + i;
      }
    }
    return acc;
  }
  __device__ __forceinline__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
    static_cast<std::int64_t*>(out.data)[i] = acc.index;
  }
};

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
