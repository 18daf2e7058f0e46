// Reductions as types, and the kernel machinery that any of them can use: for kernel sources (.cu), compiled
// by nvcc or for the simulated SM.
//
// A reduction of one's own is a trivially copyable type like those below:
//
//   struct LogSumOfSquares {
//     using In = float;                     // element type: 1, 2, 4 or 8 bytes
//     using Acc = float;                    // accumulator: trivially copyable, a multiple of 4 bytes
//     __device__ Acc identity() const { return 0.0f; }
//     __device__ Acc combine(Acc a, Acc b) const { return a + b; }         // associative and commutative
//     __device__ Acc take(Acc acc, In x, std::int64_t index) const { return acc + x * x; }
//     __device__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
//       static_cast<float*>(out.data)[i] = logf(acc);
//     }
//   };
//   reduce_with(LogSumOfSquares{}, stream, device, in, n, {.data = out}, workspace);
//
// The order in which elements meet is fixed by n and the device: the same bits on every run.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET {

struct ReduceOutput {
  void* data = nullptr;
  DType dtype = DType::f32;
  bool mean = false;
  std::int64_t count = 1;  // elements that meet in one output
};

namespace reduce_rungs {

template <class T>
inline constexpr bool kIsReal16 = dtype_of<T> == DType::f16 || dtype_of<T> == DType::bf16;

// What sums of T are accumulated in.
template <class T>
using SumAcc = std::conditional_t<
    std::is_same_v<T, double>, double,
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>, float>>;

// What T is compared in: at least 32 bits, so that a warp exchanges it by one shuffle.
template <class T>
using CompareAcc = std::conditional_t<
    kIsReal16<T>, float,
    std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4),
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>, T>>;

__device__ __forceinline__ void store_float(const ReduceOutput& out, std::int64_t i, float value) {
  switch (out.dtype) {
    case DType::f64:
      static_cast<double*>(out.data)[i] = value;
      break;
    case DType::f16:
      static_cast<__half*>(out.data)[i] = __float2half_rn(value);
      break;
    case DType::bf16:
      static_cast<__nv_bfloat16*>(out.data)[i] = __float2bfloat16_rn(value);
      break;
    default:
      static_cast<float*>(out.data)[i] = value;
      break;
  }
}
__device__ __forceinline__ void store_double(const ReduceOutput& out, std::int64_t i, double value) {
  switch (out.dtype) {
    case DType::f64:
      static_cast<double*>(out.data)[i] = value;
      break;
    case DType::f16:
      static_cast<__half*>(out.data)[i] = __double2half(value);
      break;
    case DType::bf16:
      static_cast<__nv_bfloat16*>(out.data)[i] = __double2bfloat16(value);
      break;
    default:
      static_cast<float*>(out.data)[i] = static_cast<float>(value);
      break;
  }
}

// The sum of 16 bytes: two bytes to a 32-bit word, 16 bits apart, where eight of them cannot overflow. Signed
// bytes are shifted to unsigned ones first (flipping the sign bit adds 128).
template <class T>
__device__ __forceinline__ std::int32_t sum_of_bytes(const Vec<T, 16>& x) {
  constexpr unsigned kEven = 0x00ff00ffu;
  constexpr unsigned kSigns = std::is_signed_v<T> ? 0x80808080u : 0u;
  unsigned words[4];
  memcpy(words, &x, sizeof(words));
  unsigned pairs = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned bytes = words[i] ^ kSigns;
    pairs += (bytes & kEven) + (bytes >> 8 & kEven);
  }
  return static_cast<std::int32_t>((pairs & 0xffffu) + (pairs >> 16)) - (std::is_signed_v<T> ? 16 * 128 : 0);
}

template <class T>
struct Sum {
  using In = T;
  using Acc = SumAcc<T>;

  __device__ __forceinline__ Acc identity() const { return Acc{0}; }
  __device__ __forceinline__ Acc combine(Acc a, Acc b) const { return a + b; }
  __device__ __forceinline__ Acc take(Acc acc, In x, std::int64_t) const { return acc + static_cast<Acc>(x); }

  // A vector at once: a tree of its elements, then one addition to the chain; narrow integers meet in 32
  // bits.
  template <int kCount>
  __device__ __forceinline__ Acc take(Acc acc, const Vec<In, kCount>& x, std::int64_t) const {
    if constexpr (sizeof(T) == 1) {
      return acc + static_cast<Acc>(sum_of_bytes(x));
    } else {
      return acc + tree_sum(x);
    }
  }

  __device__ __forceinline__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
    if constexpr (std::is_same_v<Acc, float>) {
      store_float(out, i, out.mean ? acc / static_cast<float>(out.count) : acc);
    } else if constexpr (std::is_same_v<Acc, double>) {
      store_double(out, i, out.mean ? acc / static_cast<double>(out.count) : acc);
    } else if (out.mean) {
      store_double(out, i, static_cast<double>(acc) / static_cast<double>(out.count));
    } else {
      static_cast<Acc*>(out.data)[i] = acc;
    }
  }

 private:
  template <int kCount>
  __device__ __forceinline__ static Acc tree_sum(const Vec<In, kCount>& x) {
    using Narrow = std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4), std::int32_t, Acc>;
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

template <class T, bool kMax>
struct Extreme {
  using In = T;
  using Acc = CompareAcc<T>;

  __device__ __forceinline__ Acc identity() const {
    if constexpr (std::is_floating_point_v<Acc>) {
      return kMax ? -static_cast<Acc>(INFINITY) : static_cast<Acc>(INFINITY);
    } else {
      return kMax ? std::numeric_limits<Acc>::min() : std::numeric_limits<Acc>::max();
    }
  }
  // NaN wins from either side: an ordered comparison with it is false.
  __device__ __forceinline__ Acc combine(Acc a, Acc b) const {
    const bool first = kMax ? a > b : a < b;
    if constexpr (std::is_floating_point_v<Acc>) return first || a != a ? a : b;
    return first ? a : b;
  }
  __device__ __forceinline__ Acc take(Acc acc, In x, std::int64_t) const {
    return combine(acc, static_cast<Acc>(x));
  }
  template <int kCount>
  __device__ __forceinline__ Acc take(Acc acc, const Vec<In, kCount>& x, std::int64_t) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) acc = combine(acc, static_cast<Acc>(x[i]));
    return acc;
  }
  __device__ __forceinline__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
    static_cast<In*>(out.data)[i] = static_cast<In>(acc);
  }
};

// A key and where it stands; 8 bytes where the key has 4, so that the pair is 16 with its index.
template <class Key>
struct KeyAt {
  Key key;
  std::int64_t index;
};

template <class T>
struct ArgExtreme {
  using In = T;
  using Key = CompareAcc<T>;
  using Acc = KeyAt<Key>;
  bool smallest = false;

  // The order reversed: exact, and no overflow at the lowest integer.
  __device__ __forceinline__ Key to_key(In x) const {
    const Key key = static_cast<Key>(x);
    if constexpr (std::is_floating_point_v<Key>) {
      return smallest ? -key : key;
    } else {
      return smallest ? static_cast<Key>(~key) : key;
    }
  }
  __device__ __forceinline__ Acc identity() const {
    if constexpr (std::is_floating_point_v<Key>) {
      return {-static_cast<Key>(INFINITY), std::numeric_limits<std::int64_t>::max()};
    } else {
      return {std::numeric_limits<Key>::min(), std::numeric_limits<std::int64_t>::max()};
    }
  }
  // The larger key; NaN is larger than all; among equals the lower index.
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
    return combine(acc, {to_key(x), index});
  }
  template <int kCount>
  __device__ __forceinline__ Acc take(Acc acc, const Vec<In, kCount>& x, std::int64_t index) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) acc = take(acc, x[i], index + i);
    return acc;
  }
  __device__ __forceinline__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
    static_cast<std::int64_t*>(out.data)[i] = acc.index;
  }
};

// A whole vector through a reduction that takes single elements alone.
template <class Reduction, int kCount>
__device__ __forceinline__ typename Reduction::Acc take_vec(const Reduction& reduction,
                                                            typename Reduction::Acc acc,
                                                            const Vec<typename Reduction::In, kCount>& x,
                                                            std::int64_t index) {
  if constexpr (requires { reduction.take(acc, x, index); }) {
    return reduction.take(acc, x, index);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) acc = reduction.take(acc, x[i], index + i);
    return acc;
  }
}

}  // namespace reduce_rungs
}  // namespace rooftile::ROOFTILE_TARGET
