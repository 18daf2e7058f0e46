// Rows in registers (device/register_row.h): their statistics and results.
#pragma once

#include <type_traits>

#include "rooftile/device/register_row.h"
#include "rooftile/families/norm/rungs/norm_device.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// What this thread's differences are from. Of `f32` the mean of its elements. Of 16 bits one of them, which is a walk less: where it lies
// far out, sums about it lose some digits of f32, none of a result's.
template <class Norm, class T, class Row>
__device__ __forceinline__ float centre_of(const Row& row, float scale, float count) {
  if constexpr (!Norm::kHasMean) return 0;
  if constexpr (sizeof(T) == sizeof(float)) {
    float sum = 0;
    row.for_each([&](const auto& vec, int) {
      const auto floats = as_floats(vec);
      float part = 0;
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e) part = fmaf(floats[e], scale, part);
      sum += part;
    });
    return Norm::centre(sum, count);
  }
  const auto vec = row.vector(0);
  float element = static_cast<float>(vec[0]);
  if constexpr (!Row::kWhole) {
#pragma unroll
    for (int e = Row::kElements - 1; e >= 0; --e)
      if (row.has(row.first(0) + e)) element = static_cast<float>(vec[e]);
  }
  return element * scale;
}

// Of this thread's elements, times scale. Fillers are 0.
template <class Norm, class T, class Row>
__device__ __forceinline__ typename Norm::Stats stats_of(Row& row, float scale) {
  const auto count = static_cast<float>(row.count());
  const float centre = centre_of<Norm, T>(row, scale, count);
  // One chain each: of several nvcc asks for the last vectors when it has added up the first.
  Differences found;
  row.for_each([&](const auto& vec, int first) {
    if (!Norm::kHasMean || row.has_all(first)) {
      const auto floats = as_floats(vec);
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e)
        found.add(Norm::kHasMean ? fmaf(floats[e], scale, -centre) : floats[e] * scale);
    } else if (!Row::kWhole) {
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e)
        if (row.has(first + e)) found.add(fmaf(static_cast<float>(vec[e]), scale, -centre));
    }
  });
  row.forget_conversions();
  return Norm::about(centre, count, found);
}

// Threads that a multiprocessor is to have room for: 1024 leave 64 registers to each. 1280 leave 48, which is enough for 4 vectors (beside
// fewer are their weights, too); of 56 there were 1024. Beside a row its residual takes as many as the row.
constexpr int resident_threads(bool has_residual, int vectors) {
  if (has_residual) return 512;
  return vectors == 4 ? 1280 : 1024;
}

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
  // The elements at the row's v-th vector; of those that the row has not, 0.
  template <class Row>
  __device__ __forceinline__ Vec<T, kVecElements<T>> at(const Row& row, int v) const {
    const int first = row.first(v);
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

// Results of a vector of x, to be given weight and bias.
template <class T, int kElements>
__device__ __forceinline__ Vec<float, kElements> normalised(const Vec<T, kElements>& vec,
                                                            const Results& results) {
  Vec<float, kElements> v = as_floats(vec);
#pragma unroll
  for (int e = 0; e < kElements; ++e) v[e] = results.of(v[e]);
  return v;
}
template <class T, int kElements>
__device__ __forceinline__ Vec<T, kElements> rounded_each(const Vec<float, kElements>& v) {
  Vec<T, kElements> made;
#pragma unroll
  for (int e = 0; e < kElements; ++e) made[e] = rounded<T>(v[e]);
  return made;
}

// Of a weight or bias that begins at g_values, the vector at place(g_values); the same value throughout where there is none (null), which
// is not looked at with kIsThere.
template <bool kIsThere = false, class T, class Place>
__device__ __forceinline__ RawVector beside_or(const T* g_values, float value, Place place) {
  if constexpr (kIsThere) {
    return load_bytes<kVecBytes>(place(g_values));
  } else {
    if (g_values != nullptr) return load_bytes<kVecBytes>(place(g_values));
    Vec<T, kVecElements<T>> same;
#pragma unroll
    for (int e = 0; e < kVecElements<T>; ++e) same[e] = rounded<T>(value);
    return bits_of(same);
  }
}

// made, times weight and with bias.
template <class Norm, class T, int kElements>
__device__ __forceinline__ void weigh(Vec<float, kElements>& made, const RawVector& weight,
                                      const RawVector& bias) {
  const auto w = as_floats(as_vector<T>(weight));
#pragma unroll
  for (int e = 0; e < kElements; ++e) made[e] *= w[e];
  if constexpr (Norm::kHasMean) {
    const auto b = as_floats(as_vector<T>(bias));
#pragma unroll
    for (int e = 0; e < kElements; ++e) made[e] += b[e];
  }
}

// Whether a call has all of what is beside a row.
template <class Norm, class Call>
__device__ __forceinline__ bool are_there(const Call& call) {
  return call.g_weight != nullptr && (!Norm::kHasMean || call.g_bias != nullptr);
}

// Weight and bias of a whole row's vectors, on their way before they are needed as far as there are registers: all of a short row, from
// before its sums are there; else those of the next kAhead vectors from start() on, or none. kAreThere: neither is null, as are_there()
// says; to look at that for each vector is a fifth of a vector's instructions.
template <class Norm, class T, class Row, int kAhead, bool kAreThere = false>
class BesideWhole {
 public:
  static constexpr bool kHasAll = Row::kVectors <= 3;

  __device__ __forceinline__ BesideWhole(const Operands<T>& call, const Row& row) : call_(call), row_(row) {
    if constexpr (kHasAll) ask_first();
  }
  __device__ __forceinline__ void start() {
    if constexpr (!kHasAll && kAhead > 0) ask_first();
  }
  // For v = 0, 1, 2 ...: what vector v is normalised to, times its weight and with its bias.
  __device__ __forceinline__ void apply(int v, Vec<float, Row::kElements>& made) {
    if constexpr (!kHasAll && kAhead == 0) ask(v);
    weigh<Norm, T>(made, weight_[v % kSlots], bias_[v % kSlots]);
    if constexpr (kAhead > 0) ask(v + kSlots);
  }

 private:
  static constexpr int kSlots = kHasAll ? Row::kVectors : kAhead > 0 ? kAhead : 1;

  __device__ __forceinline__ void ask_first() {
#pragma unroll
    for (int v = 0; v < kSlots; ++v) ask(v);
  }
  __device__ __forceinline__ void ask(int v) {
    if (v >= Row::kVectors || !row_.has_all(row_.first(v))) return;
    const auto place = [&](const T* g_values) { return row_.at(g_values, v); };
    weight_[v % kSlots] = beside_or<kAreThere>(call_.g_weight, 1.0f, place);
    if constexpr (Norm::kHasMean) bias_[v % kSlots] = beside_or<kAreThere>(call_.g_bias, 0.0f, place);
  }

  const Operands<T>& call_;
  const Row& row_;
  RawVector weight_[kSlots];
  RawVector bias_[kSlots];
};

// The same through shared memory, for rows of which a block has several: each of its threads asks for a part before the sums are
// there, which takes fewer registers than all of what it needs.
template <class Norm, class T, class Row, int kThreads>
class BesideShared {
 public:
  struct Shared {
    RawVector weight[Row::kCapacity];
    RawVector bias[Norm::kHasMean ? Row::kCapacity : 1];
  };
  __device__ __forceinline__ BesideShared(const Operands<T>& call, const Row& row, Shared& s)
      : row_(row), s_(s), vectors_(static_cast<int>(call.length()) / Row::kElements) {
    for_own([&](int i, int at) {
      const auto place = [&](const T* g_values) { return g_values + at * Row::kElements; };
      weight_[i] = beside_or(call.g_weight, 1.0f, place);
      if constexpr (Norm::kHasMean) bias_[i] = beside_or(call.g_bias, 0.0f, place);
    });
  }
  // By all threads of the block.
  __device__ __forceinline__ void start() {
    for_own([&](int i, int at) {
      s_.weight[at] = weight_[i];
      if constexpr (Norm::kHasMean) s_.bias[at] = bias_[i];
    });
    __syncthreads();  // all of them are there
  }
  __device__ __forceinline__ void apply(int v, Vec<float, Row::kElements>& made) const {
    const int at = row_.first(v) / Row::kElements;
    weigh<Norm, T>(made, s_.weight[at], s_.bias[Norm::kHasMean ? at : 0]);
  }

 private:
  static constexpr int kOwn = static_cast<int>(ceil_div(Row::kCapacity, kThreads));

  template <class Body>
  __device__ __forceinline__ void for_own(Body body) const {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int at = static_cast<int>(threadIdx.x) + i * kThreads;
      if (at < vectors_) body(i, at);
    }
  }

  const Row& row_;
  Shared& s_;
  int vectors_;
  RawVector weight_[kOwn];
  RawVector bias_[kOwn];
};

template <class T, class Row, class Beside>
__device__ __forceinline__ void store_whole(const Row& row, const Results& results, Beside& beside, T* g_y) {
  beside.start();
  row.store_by_place(g_y, [&](int v) {
    auto made = normalised(row.vector(v), results);
    beside.apply(v, made);
    return rounded_each<T>(made);
  });
}

// By weights that are asked for when they are needed, those of the next kAhead vectors in front.
template <class Norm, int kAhead, class T, class Row>
__device__ __forceinline__ void store_beside(const Operands<T>& call, const Row& row, const Results& results,
                                             T* g_y) {
  const auto store = [&](auto there) {
    BesideWhole<Norm, T, Row, kAhead, there> beside(call, row);
    store_whole(row, results, beside, g_y);
  };
  if (are_there<Norm>(call)) {
    store(std::true_type{});
  } else {
    store(std::false_type{});
  }
}

// Of a row that may begin and end anywhere.
template <class Call, class T, class Row>
__device__ __forceinline__ void store_results(const Call& call, const Row& row, const Results& results,
                                              T* g_y) {
  const Beside<T> weight(call.g_weight, g_y);
  const Beside<T> bias(call.g_bias, g_y);
  row.store_by_place(g_y, [&](int v) {
    auto made = normalised(row.vector(v), results);
    if (weight.g != nullptr) {
      const auto w = as_floats(weight.at(row, v));
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e) made[e] *= w[e];
    }
    if (bias.g != nullptr) {
      const auto b = as_floats(bias.at(row, v));
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e) made[e] += b[e];
    }
    return rounded_each<T>(made);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
