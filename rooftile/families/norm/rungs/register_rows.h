// Rows in registers (device/register_row.h): their statistics and results.
#pragma once

#include "rooftile/device/register_row.h"
#include "rooftile/families/norm/rungs/norm_device.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// Of this thread's elements, times scale. Fillers are 0.
template <class Norm, class Row>
__device__ __forceinline__ typename Norm::Stats stats_of(Row& row, float scale) {
  constexpr int kElements = Row::kElements;
  const auto for_own = [&](const auto& vec, int first, auto body) {
    if (!Norm::kHasMean || row.has_all(first)) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) body(static_cast<float>(vec[e]));
    } else {
#pragma unroll
      for (int e = 0; e < kElements; ++e)
        if (row.has(first + e)) body(static_cast<float>(vec[e]));
    }
  };
  float sum = 0;
  if constexpr (Norm::kHasMean) {
    row.for_each([&](const auto& vec, int) {
      float part = 0;
#pragma unroll
      for (int e = 0; e < kElements; ++e) part = fmaf(static_cast<float>(vec[e]), scale, part);
      sum += part;
    });
    row.forget_conversions();
  }
  const auto stats = Norm::of(static_cast<float>(row.count()), sum, [&](float mean) {
    float squares = 0;
    row.for_each([&](const auto& vec, int first) {
      float part = 0;
      for_own(vec, first, [&](float v) {
        const float off = fmaf(v, scale, -mean);
        part = fmaf(off, off, part);
      });
      squares += part;
    });
    return squares;
  });
  row.forget_conversions();
  return stats;
}

// Threads that a multiprocessor is to have room for: 1024 leave 64 registers to each; beside a row its residual takes as many.
constexpr int resident_threads(bool has_residual) { return has_residual ? 512 : 1024; }

// Weight or bias at the places of a row's vectors.
template <class T>
struct Beside {
  const T* g;     // null: none
  bool is_alike;  // lies to 16 bytes as the row does

  __device__ __forceinline__ Beside(const T* g_values, const T* g_row)
      : g(g_values),
        is_alike((reinterpret_cast<std::uintptr_t>(g_values) - reinterpret_cast<std::uintptr_t>(g_row)) %
                     kVecBytes ==
                 0) {}
  // Elements first, first + 1 ...; of those that the row has not, 0.
  template <class Row>
  __device__ __forceinline__ Vec<T, kVecElements<T>> at(const Row& row, int first) const {
    if (is_alike && row.has_all(first)) return as_vector<T>(load_bytes<kVecBytes>(g + first));
    Vec<T, kVecElements<T>> vec{};
#pragma unroll
    for (int e = 0; e < kVecElements<T>; ++e)
      if (row.has(first + e)) vec[e] = g[first + e];
    return vec;
  }
};

// To the row, and to the residual in place.
template <class T, class Row>
__device__ __forceinline__ void add_residual(Row& row, T* g_residual) {
  row.combine(g_residual, [](T x, T residual) { return added(x, residual); });
  row.store(g_residual, [](const auto& vec, int) { return vec; });
}

template <class T, class Row>
__device__ __forceinline__ void store_results(const Operands<T>& call, const Row& row, const Results& results,
                                              T* g_y) {
  const Beside<T> weight(call.g_weight, g_y);
  const Beside<T> bias(call.g_bias, g_y);
  row.store(g_y, [&](const auto& vec, int first) {
    Vec<float, Row::kElements> v;
#pragma unroll
    for (int e = 0; e < Row::kElements; ++e) v[e] = results.of(static_cast<float>(vec[e]));
    if (weight.g != nullptr) {
      const auto w = weight.at(row, first);
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e) v[e] *= static_cast<float>(w[e]);
    }
    if (bias.g != nullptr) {
      const auto b = bias.at(row, first);
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e) v[e] += static_cast<float>(b[e]);
    }
    Vec<T, Row::kElements> made;
#pragma unroll
    for (int e = 0; e < Row::kElements; ++e) made[e] = rounded<T>(v[e]);
    return made;
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
