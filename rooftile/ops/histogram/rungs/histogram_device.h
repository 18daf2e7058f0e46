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
  // Calls body with what gives bins, after whatever can be decided once for many elements.
  template <class Body>
  __device__ __forceinline__ void decide(Body body) const {
    body(*this);
  }
};
template <std::unsigned_integral T>
struct BinOf<T> {
  static constexpr bool kMayBeNarrow = sizeof(T) <= sizeof(std::uint32_t);
  WholeBins bins;
  NarrowBins narrow;
  bool is_narrow;
  T sign;

  static BinOf of(const HistogramArgs& args) {
    const WholeBins bins = whole_bins(args);
    const bool is_narrow = kMayBeNarrow && holds_bounds(args.in.dtype, args.lower, args.upper);
    return {bins, is_narrow ? NarrowBins::of(args, bins) : NarrowBins{}, is_narrow,
            static_cast<T>(sign_of(args.in.dtype))};
  }
  __device__ __forceinline__ int operator()(T x) const { return bins.bin(static_cast<T>(x ^ sign)); }
  template <class Body>
  __device__ __forceinline__ void decide(Body body) const {
    if (kMayBeNarrow && is_narrow) {
      body([this](T x) { return narrow.bin(static_cast<std::uint32_t>(static_cast<T>(x ^ sign))); });
    } else {
      body(*this);
    }
  }
};

// Of block `part` of `parts`, this thread's: give_vec(vec) for whole vectors, kVectors of them loaded before the first is given,
// and give_element(element) for what is there of those that hang over. Blocks take kThreads * kVectors in turn.
template <int kThreads, int kVectors, class T, class GiveVec, class GiveElement>
__device__ __forceinline__ void for_part(const CoveringVectors<T>& all, unsigned part, unsigned parts,
                                         GiveVec give_vec, GiveElement give_element) {
  constexpr std::int64_t kTile = std::int64_t{kThreads} * kVectors;
  for (std::int64_t tile = part * kTile; tile < all.vectors; tile += parts * kTile) {
    const std::int64_t own = tile + threadIdx.x;
    if (all.is_whole(tile) && all.is_whole(tile + kTile - 1)) {
      Vec<T, kVecElements<T>> vecs[kVectors];
#pragma unroll
      for (int v = 0; v < kVectors; ++v) vecs[v] = load_vec(all.g_first + all.index(own + v * kThreads));
#pragma unroll
      for (int v = 0; v < kVectors; ++v) give_vec(vecs[v]);
      continue;
    }
#pragma unroll 1
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t i = all.index(own + v * kThreads);
      if (all.is_whole(own + v * kThreads)) {
        give_vec(load_vec(all.g_first + i));
        continue;
      }
#pragma unroll 1
      for (int j = 0; j < kVecElements<T>; ++j) {
        if (i + j >= 0 && i + j < all.n) give_element(all.g_first[i + j]);
      }
    }
  }
}

// Elements of a call.
template <class T>
struct Elements {
  const T* g_in;
  std::int64_t n;
  BinOf<T> bin_of;

  // Calls body(bin) for this thread's elements of a part, whose bin may be kNoBin. kVectors are in flight.
  template <int kThreads, int kVectors, class Body>
  __device__ __forceinline__ void for_bins(unsigned part, unsigned parts, Body body) const {
    for_part<kThreads, kVectors>(
        CoveringVectors<T>::of(g_in, n), part, parts,
        [&](const Vec<T, kVecElements<T>>& vec) {
          bin_of.decide([&](auto bin_of_one) {
#pragma unroll
            for (int j = 0; j < kVecElements<T>; ++j) body(bin_of_one(vec[j]));
          });
        },
        [&](T x) { body(bin_of(x)); });
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
