// A row in the registers of its threads: read once, by aligned vectors of 16 bytes wherever it begins and ends.
//
//   RegisterRow<__half, RowThreads<32>, 4> row;  // up to 128 vectors
//   row.load(g_in, n, filler);
//   row.for_each([&](const auto& vec, int first) { ... });
//   row.store(g_out, [&](const auto& vec, int first) { return ...; });  // g_out lies to 16 bytes as g_in does
//
// A block of several that share the row has a part of its vectors: load(g_in, n, filler, first_vector, vectors).
// `first` is where in the row the vector's first element stands: below 0, or beyond n, for what hangs over, which holds the
// filler; has(first + e) tells which elements are there. Loads are all on their way before the first is used. The output may be
// the input. kWhole: rows begin and end at multiples of 16 bytes; vectors are there or not, and nothing is looked at element by
// element, which takes half of the instructions.
#pragma once

#include <cstdint>

#include "rooftile/device/raw_vector.h"

namespace rooftile::ROOFTILE_TARGET {

template <class T, class Threads, int kVectors_, bool kWhole_ = false>
class RegisterRow {
 public:
  static constexpr bool kWhole = kWhole_;
  static constexpr int kElements = kVecElements<T>;
  using Vector = Vec<T, kElements>;
  static constexpr int kVectors = kVectors_;

  static constexpr int kCapacity = Threads::kThreads * kVectors;  // vectors

  // Of a row of n elements, 0 to 2^30, so many vectors from the first_vector-th on, kCapacity at most. load_if(is_there, g, raw) loads a
  // vector that is there.
  template <class LoadIf = LoadVectorIf>
  __device__ __forceinline__ void load(const T* g_row, int n, T filler, int first_vector = 0,
                                       int vectors = kCapacity, LoadIf load_if = {}) {
    const int skew =
        kWhole ? 0 : static_cast<int>(reinterpret_cast<std::uintptr_t>(g_row) % kVecBytes / sizeof(T));
    const int end = (first_vector + vectors) * kElements - skew;
    n_ = n < end ? n : end;
    first_ = (first_vector + Threads::index()) * kElements - skew;
    left_ = n_ - first_;
#if !defined(ROOFTILE_SIM)
    // Unknown to nvcc: it compares each vector's constant with it, in place of keeping a place for each vector.
    asm volatile("" : "+r"(left_));
#endif
    Vector fillers;
#pragma unroll
    for (int e = 0; e < kElements; ++e) fillers[e] = filler;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      raw_[v] = bits_of(fillers);
      load_if(is_whole(v), at(g_row, v), raw_[v]);
    }
    if constexpr (!kWhole) {
      if (skew == 0 && n_ % kElements == 0) return;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (!is_cut(v)) continue;
        Vector vec = fillers;
#pragma unroll
        for (int e = 0; e < kElements; ++e)
          if (has(first(v) + e)) vec[e] = g_row[first(v) + e];
        raw_[v] = bits_of(vec);
      }
    }
  }

  // Each element becomes op(own, other), the other at its place in another row, which lies to 16 bytes alike.
  template <class Op>
  __device__ __forceinline__ void combine(const T* g_other, Op op) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!is_whole(v) && !is_cut(v)) continue;
      Vector vec = as_vector<T>(raw_[v]);
      if (is_whole(v)) {
        const Vector other = as_vector<T>(load_bytes<kVecBytes>(at(g_other, v)));
#pragma unroll
        for (int e = 0; e < kElements; ++e) vec[e] = op(vec[e], other[e]);
      } else {
#pragma unroll
        for (int e = 0; e < kElements; ++e)
          if (has(first(v) + e)) vec[e] = op(vec[e], g_other[first(v) + e]);
      }
      raw_[v] = bits_of(vec);
    }
  }

  // Whether the row, or this block's part, has such an element, or all of a vector's from `first` on.
  __device__ __forceinline__ bool has(int element) const { return element >= 0 && element < n_; }
  __device__ __forceinline__ bool has_all(int first) const {
    return kWhole ? first - first_ < left_ : first >= 0 && first + kElements <= n_;
  }

  // Elements that this thread has.
  [[nodiscard]] __device__ __forceinline__ int count() const {
    int count = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (has_all(first(v))) {
        count += kElements;
        continue;
      }
      if (kWhole) continue;
      const int begin = first(v) < 0 ? 0 : first(v);
      const int end = first(v) + kElements < n_ ? first(v) + kElements : n_;
      count += end > begin ? end - begin : 0;
    }
    return count;
  }

  // What was made of the elements so far is to be made once more by what follows, and takes no registers until then: nvcc would
  // keep 16-bit elements as the floats that two loops have in common, twice the row's own size.
  __device__ __forceinline__ void forget_conversions() {
#if !defined(ROOFTILE_SIM)
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      asm volatile("" : "+r"(raw_[v].x), "+r"(raw_[v].y), "+r"(raw_[v].z), "+r"(raw_[v].w));
#endif
  }

  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) visit(vector(v), first(v));
  }

  template <class Make>
  __device__ __forceinline__ void store(T* g_row, Make make) const {
    store_by_place(g_row, [&](int v) { return make(vector(v), first(v)); });
  }

  // For several rows that lie alike: the v-th vector of each. v is a constant once loops are unrolled.
  __device__ __forceinline__ Vector vector(int v) const { return as_vector<T>(raw_[v]); }
  __device__ __forceinline__ int first(int v) const { return first_ + v * Threads::kThreads * kElements; }

  // Where it is in a row that begins at g_row: by a constant from where the first is, where that is inside.
  template <class Row>
  __device__ __forceinline__ Row* at(Row* g_row, int v) const {
    return kWhole ? g_row + first_ + v * (Threads::kThreads * kElements) : g_row + first(v);
  }

  // make(v) of each place that the row has.
  template <class Make>
  __device__ __forceinline__ void store_by_place(T* g_row, Make make) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (is_whole(v)) {
        store_vec(at(g_row, v), make(v));
      } else if (is_cut(v)) {
        const Vector vec = make(v);
#pragma unroll
        for (int e = 0; e < kElements; ++e)
          if (has(first(v) + e)) g_row[first(v) + e] = vec[e];
      }
    }
  }

 private:
  __device__ __forceinline__ bool is_whole(int v) const { return has_all(first(v)); }
  __device__ __forceinline__ bool is_cut(int v) const {
    return !kWhole && !is_whole(v) && first(v) < n_ && first(v) + kElements > 0;
  }

  RawVector raw_[kVectors];
  int n_ = 0;
  int first_ = 0;
  int left_ = 0;  // kWhole: elements of the row from first_ on
};

}  // namespace rooftile::ROOFTILE_TARGET
