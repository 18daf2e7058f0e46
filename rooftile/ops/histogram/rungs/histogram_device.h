// What the rungs share: elements and their bins, sums in shared memory, and the way from there to the result.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rooftile/core/rung.h"
#include "rooftile/device/covering_vectors.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/flip.h"
#include "rooftile/device/last_block.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/types.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/histogram/histogram.h"
#include "rooftile/ops/histogram/histogram_bins.h"
#include "rooftile/ops/histogram/histogram_plan.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {

// The bin of an element of T: a float, or the bits of an integer.
template <class T>
struct BinOf {
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  RealBins<Real> bins;

  static BinOf of(const HistogramArgs& args) { return {RealBins<Real>::of(args)}; }
  __device__ __forceinline__ int operator()(T x) const { return bins.bin(static_cast<Real>(x)); }
};
template <std::unsigned_integral T>
struct BinOf<T> {
  WholeBins bins;
  T sign;

  static BinOf of(const HistogramArgs& args) {
    return {whole_bins(args), static_cast<T>(sign_of(args.in.dtype))};
  }
  __device__ __forceinline__ int operator()(T x) const { return bins.bin(static_cast<T>(x ^ sign)); }
};

// Elements of a call, and a part of them: vectors part, part + parts, ... times the block's threads.
template <class T>
struct Elements {
  const T* g_in;
  std::int64_t n;
  BinOf<T> bin_of;

  // Calls body(bin) for this thread's elements that have a bin.
  template <int kThreads, class Body>
  __device__ __forceinline__ void for_bins(unsigned part, unsigned parts, Body body) const {
    const auto all = CoveringVectors<T>::of(g_in, n);
    for (std::int64_t v = std::int64_t{part} * kThreads + threadIdx.x; v < all.vectors;
         v += std::int64_t{parts} * kThreads) {
      give(all, v, all.load(v), body);
    }
  }
  template <class Body>
  __device__ __forceinline__ void give(const CoveringVectors<T>& all, std::int64_t v,
                                       const Vec<T, kVecElements<T>>& vec, Body body) const {
    const unsigned mask = all.mask(v);
#pragma unroll
    for (int j = 0; j < kVecElements<T>; ++j) {
      const int bin = bin_of(vec[j]);
      if ((mask >> j & 1u) != 0 && bin != kNoBin) body(bin);
    }
  }
};

struct Weights {
  const void* g_data;
  bool is_f64;

  static Weights of(const HistogramArgs& args) {
    return {args.weights.data, args.weights.dtype == DType::f64};
  }
  [[nodiscard]] __device__ __forceinline__ double at(std::int64_t i) const {
    return is_f64 ? static_cast<const double*>(g_data)[i] : static_cast<const float*>(g_data)[i];
  }
};

// The sums of all blocks: whole numbers of 64 bits, or doubles. Memory that is zero before and afterwards.
template <class Count>
struct Totals {
  using Sum = std::conditional_t<std::is_same_v<Count, double>, double, unsigned long long>;
  Sum* g_sums;
  std::uint32_t* g_tickets;  // one for each range of bins
  void* g_counts;            // the result
  bool is_u32;               // its elements; else as wide as Sum
  int bins;

  static Totals of(const Call<HistogramArgs>& call) {
    auto* g_sums = static_cast<Sum*>(call.workspace.zeroed);
    return {g_sums, reinterpret_cast<std::uint32_t*>(g_sums + call.args.bins), call.args.counts.data,
            call.args.counts.dtype == DType::u32, static_cast<int>(call.args.bins)};
  }
  __device__ __forceinline__ void add(int bin, Count count) const {
    if (count != 0) atomicAdd(&g_sums[bin], static_cast<Sum>(count));
  }
  // By all threads of a block that has added its sums of bins first ... last - 1, as `blocks` blocks do: the last of these
  // gives the result.
  template <int kThreads>
  __device__ __forceinline__ void finish(int range, unsigned blocks, int first, int last) const {
    __syncthreads();  // the whole block has added before it takes its ticket
    if (!is_last_block(&g_tickets[range], blocks)) return;
    for (int b = first + static_cast<int>(threadIdx.x); b < last; b += kThreads) {
      const Sum sum = g_sums[b];
      g_sums[b] = 0;
      if (is_u32) {
        static_cast<std::uint32_t*>(g_counts)[b] = static_cast<std::uint32_t>(sum);
      } else {
        static_cast<Sum*>(g_counts)[b] = sum;
      }
    }
  }
};

// Calls body.operator()<T>() with the type that BinOf has for the call's elements.
template <class Types, class Body>
Status dispatch_elements(const HistogramArgs& args, Body&& body) {
  const DType dtype = args.in.dtype;
  return dispatch(Types{}, is_float(dtype) ? dtype : unsigned_of(dtype), std::forward<Body>(body));
}
using AllElements =
    CompiledDTypes<DTypes<double, float, __half, __nv_bfloat16, std::uint8_t, std::uint32_t, std::uint64_t>,
                   DTypes<float, std::uint32_t>>;
// What the lesson rungs are compiled for.
using LessonElements =
    CompiledDTypes<DTypes<float, std::uint32_t, std::uint8_t>, DTypes<float, std::uint32_t>>;

template <class T>
Elements<T> elements_of(const HistogramArgs& args) {
  return {static_cast<const T*>(args.in.data), args.in.numel(), BinOf<T>::of(args)};
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
