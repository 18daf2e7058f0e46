// The scans of scan as types (scan_functor.h says what such a type is), and from arguments to them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rooftile/core/host_device.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/flip.h"
#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/scan/scan.h"
#include "rooftile/ops/scan/scan_plan.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

// What T is accumulated and compared in: at least 32 bits, so that a warp exchanges it by one shuffle.
template <class T>
using AccOf = std::conditional_t<std::is_integral_v<T>,
                                 std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>,
                                 std::conditional_t<std::is_same_v<T, double>, double, float>>;

// Integers modulo 2^bits: signed ones are added as unsigned ones.
template <class T>
struct Sum {
  using In = T;
  using Out = T;
  using Acc = AccOf<T>;
  ROOFTILE_HOST_DEVICE Acc identity() const { return Acc{0}; }  // on the host, too: scan_by_passes
  __device__ __forceinline__ Acc take(In x) const { return static_cast<Acc>(x); }
  __device__ __forceinline__ Acc combine(Acc a, Acc b) const { return a + b; }
  __device__ __forceinline__ Out give(Acc x) const { return static_cast<Out>(x); }

  // Bytes, four to an instruction or two; of the accumulators the lowest byte counts.
  __device__ __forceinline__ Acc sum_of(const Vec<In, kVecElements<In>>& x) const requires(sizeof(T) == 1) {
    const uint4 words = words_of(x);
    constexpr unsigned kOnes = 0x01010101u;
    return __dp4a(words.x, kOnes, __dp4a(words.y, kOnes, __dp4a(words.z, kOnes, __dp4a(words.w, kOnes, 0u))));
  }
  __device__ __forceinline__ Vec<Out, kVecElements<In>> results_of(const Vec<In, kVecElements<In>>& x,
                                                                   Acc sum, bool exclusive) const
      requires(sizeof(T) == 1) {
    const uint4 words = words_of(x);
    const std::uint32_t in[4] = {words.x, words.y, words.z, words.w};
    std::uint32_t out[4];
    std::uint32_t previous = (sum & 0xffu) << 24;         // the four results in front: the last one counts
    std::uint32_t running = (sum & 0xffu) * 0x00010001u;  // in both halves
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      // Two 16-bit sums to a word: x0 and x0 + x2; x1 and x1 + x3.
      const std::uint32_t even = (in[w] & 0x00ff00ffu) * 0x00010001u;
      const std::uint32_t odd = (in[w] >> 8 & 0x00ff00ffu) * 0x00010001u;
      const std::uint32_t up_to_odd = even + odd + running;           // up to x1, up to x3
      const std::uint32_t up_to_even = even + (odd << 16) + running;  // up to x0, up to x2
      const std::uint32_t up_to = __byte_perm(up_to_even, up_to_odd, 0x6240);
      out[w] = exclusive ? __byte_perm(previous, up_to, 0x6543) : up_to;
      previous = up_to;
      running = __byte_perm(up_to, 0, 0x4343);  // the last result, as 16 bits, twice
    }
    Vec<Out, kVecElements<In>> vec;
    memcpy(static_cast<void*>(&vec), out, sizeof(vec));
    return vec;
  }

  [[nodiscard]] Acc initial(const ScanArgs& args) const {
    if (!args.initial) return Acc{0};
    if constexpr (std::is_integral_v<T>) {
      return static_cast<Acc>(is_signed(args.in.dtype)
                                  ? static_cast<std::uint64_t>(static_cast<std::int64_t>(*args.initial))
                                  : static_cast<std::uint64_t>(*args.initial));
    } else {
      return static_cast<Acc>(*args.initial);
    }
  }

 private:
  __device__ __forceinline__ static uint4 words_of(const Vec<In, kVecElements<In>>& x) {
    uint4 words;
    memcpy(&words, &x, sizeof(words));
    return words;
  }
};

// The maximum, or by `flip` (device/flip.h) the minimum: the larger key wins, and NaN is larger than all.
template <class T>
struct Extreme {
  using In = T;
  using Out = T;
  using Acc = AccOf<T>;
  std::uint64_t flip = 0;
  __device__ __forceinline__ Acc identity() const {
    if constexpr (std::is_floating_point_v<Acc>) {
      return -static_cast<Acc>(INFINITY);
    } else {
      return 0;
    }
  }
  __device__ __forceinline__ Acc take(In x) const { return static_cast<Acc>(flipped(x, flip)); }
  __device__ __forceinline__ Acc combine(Acc a, Acc b) const {
    if constexpr (std::is_floating_point_v<Acc>) {
      return a > b || a != a ? a : b;
    } else {
      return a > b ? a : b;
    }
  }
  __device__ __forceinline__ Out give(Acc x) const { return flipped(static_cast<Out>(x), flip); }

  [[nodiscard]] Acc initial(const ScanArgs& args) const {
    if constexpr (std::is_integral_v<T>) {
      return args.initial ? flip_integer(static_cast<T>(Sum<T>{}.initial(args))) : Acc{0};
    } else {
      if (!args.initial) return -static_cast<Acc>(INFINITY);
      return static_cast<Acc>(flip != 0 ? -*args.initial : *args.initial);
    }
  }

 private:
  [[nodiscard]] Acc flip_integer(T x) const {
    return static_cast<Acc>(static_cast<T>(x ^ static_cast<T>(flip)));
  }
};

// Calls body(scan) for every dtype and operation. The checked build: an integer and a float of each way to publish.
template <class Body>
Status dispatch_scans(const ScanArgs& args, Body&& body) {
  using All = DTypes<double, float, __half, __nv_bfloat16, std::uint8_t, std::uint32_t, std::uint64_t>;
  using Checked = DTypes<double, float, std::uint8_t>;
  return dispatch(CompiledDTypes<All, Checked>{}, unsigned_of(args.in.dtype), [&]<class T>() -> Status {
    if (args.op == ScanOp::sum) return body(Sum<T>{});
    return body(Extreme<T>{flip_of(args.in.dtype, args.op == ScanOp::min)});
  });
}

// Calls body(scan) for what the lesson rungs are compiled for: sums of 4-byte elements.
template <class Body>
Status dispatch_lesson(const ScanArgs& args, Body&& body) {
  return args.in.dtype == DType::f32 ? body(Sum<float>{}) : body(Sum<std::uint32_t>{});
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
