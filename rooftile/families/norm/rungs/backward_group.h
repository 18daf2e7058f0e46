// Several rows at a time, of whole vectors or of single elements: what a block's threads have found of each comes together once for all of them.
//
//   kRows = 4:  lane    0 ... 7   8 ... 15   16 ... 23   24 ... 31
//               row        0         1          2           3       after the lanes' sums: each row's total is in 8 lanes
//
// A warp's totals go to shared memory; after one barrier every warp adds up those of all warps, in the same order. A thread takes part with
// 0 elements where rows have none for it.
#pragma once

#include <type_traits>

#include "rooftile/device/raw_vector.h"
#include "rooftile/families/norm/rungs/norm_device.h"

namespace rooftile::ROOFTILE_TARGET::norm::backward {

// Sums over a warp of kCount values of each lane, in kCount - 1 + log2(32 / kCount) shuffles: lane l has that of value l / (32 / kCount).
// Each step hands half of the values to the other half of the lanes.
template <int kCount>
__device__ __forceinline__ float lanes_sum_each(float (&values)[kCount]) {
  static_assert(kCount >= 1 && (kCount & (kCount - 1)) == 0 && kCount <= kWarpSize, "a power of two");
  int offset = kWarpSize / 2;
#pragma unroll
  for (int half = kCount / 2; half > 0; half /= 2, offset /= 2) {
    const bool is_upper = (lane_index() & offset) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const float given = is_upper ? values[i] : values[i + half];
      const float kept = is_upper ? values[i + half] : values[i];
      values[i] = kept + shuffle_xor(given, offset);
    }
  }
  return lanes_sum(std::integral_constant<int, kWarpSize / kCount>{}, values[0]);
}

// Of some elements of a row: their mean, the squares of their differences from it (Uncentred: their squares, and a mean of 0), the sum of
// g = dy * weight, and of g times those differences.
struct alignas(16) Found {
  float mean;
  float squares;
  float g;
  float gx;
};

// The same about another mean. Of nothing there is no mean to be off: 0 times the square of that may be no number.
template <class Norm>
__device__ __forceinline__ Found about(float mean, const Found& own, float count) {
  if constexpr (!Norm::kHasMean) return own;
  const float off = count > 0 ? own.mean - mean : 0.0f;
  return {mean, fmaf(off * off, count, own.squares), own.g, fmaf(own.g, off, own.gx)};
}

template <class Norm, int kThreads, int kRows>
struct RowGroup {
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kLanes = kWarpSize / kRows;  // that have one row's total
  static constexpr int kFolds = ceil_div(kWarps, kLanes);
  static_assert(kThreads % kWarpSize == 0);
  using Lanes = std::integral_constant<int, kLanes>;

  struct Shared {
    float elements[kWarps];         // that every row has for a warp
    Found found[2][kRows][kWarps];  // of rounds in turns: one may be read while the next is written
  };

  // The block has so many vectors of every row, its threads one behind the other. Before the first round, by all threads. Who has no
  // mean asks for no count.
  template <class Own>
  __device__ __forceinline__ static void init(Shared& s, int vectors) {
    if constexpr (kWarps > 1 && Norm::kHasMean) {
      if (threadIdx.x < kWarps)
        s.elements[threadIdx.x] =
            Own::elements_of(vectors, static_cast<int>(threadIdx.x) * kWarpSize, kWarpSize);
      __syncthreads();  // the counts are there
    }
  }

  // The total of row lane / kLanes, in its lanes, of what each thread has found of so many elements. All threads of the block call it,
  // round after round.
  __device__ __forceinline__ static Found all_reduce(Shared& s, int round, Found (&own)[kRows], float count,
                                                     float length) {
    if constexpr (kWarps == 1) {
      return over_warp(own, count, length);
    } else {
      Found total = over_warp(own, count, elements_of(s, warp_index()));
      Found(&s_found)[kRows][kWarps] = s.found[round % 2];
      const int row = lane_index() / kLanes;
      const int place = lane_index() % kLanes;
      if (place == 0) s_found[row][warp_index()] = total;
      __syncthreads();  // every warp's totals are there
      Found parts[kFolds];
      float elements[kFolds];
#pragma unroll
      for (int f = 0; f < kFolds; ++f) {
        const int warp = place + f * kLanes;
        const bool is_warp = kWarps % kLanes == 0 || warp < kWarps;
        parts[f] = is_warp ? s_found[row][warp] : Found{};
        elements[f] = is_warp ? elements_of(s, warp) : 0.0f;
      }
      return folded(parts, elements, length);
    }
  }

  // What each row's lanes have made of its total, to all lanes of the warp: s_values[warp_index()][i] is row i's. Of two s_values in
  // turns one may be read while the other is written.
  template <class Made>
  __device__ __forceinline__ static void share(Made (&s_values)[kWarps][kRows], const Made& made) {
    if (lane_index() % kLanes == 0) s_values[warp_index()][lane_index() / kLanes] = made;
    __syncwarp();  // every row's is there
  }

  // Of kCount parts in each of a row's lanes, with so many elements, `length` in all.
  template <int kCount>
  __device__ __forceinline__ static Found folded(const Found (&parts)[kCount],
                                                 const float (&elements)[kCount], float length) {
    Found total{};
    if constexpr (Norm::kHasMean) {
      float sum = 0;
#pragma unroll
      for (int f = 0; f < kCount; ++f) sum += sum_of(parts[f], elements[f]);
      total.mean = mean_of(lanes_sum(Lanes{}, sum), length);
    }
#pragma unroll
    for (int f = 0; f < kCount; ++f) {
      const Found part = about<Norm>(total.mean, parts[f], elements[f]);
      total.squares += part.squares;
      total.g += part.g;
      total.gx += part.gx;
    }
    total.squares = lanes_sum(Lanes{}, total.squares);
    if constexpr (Norm::kHasMean) total.g = lanes_sum(Lanes{}, total.g);
    total.gx = lanes_sum(Lanes{}, total.gx);
    return total;
  }

 private:
  __device__ __forceinline__ static float elements_of(const Shared& s, int warp) {
    return Norm::kHasMean ? s.elements[warp] : 0.0f;
  }
  __device__ __forceinline__ static float sum_of(const Found& found, float count) {
    return count > 0 ? found.mean * count : 0.0f;
  }
  __device__ __forceinline__ static float mean_of(float sum, float count) {
    return count > 0 ? sum / count : 0.0f;
  }

  __device__ __forceinline__ static Found over_warp(Found (&own)[kRows], float count, float warp_count) {
    const auto sum_each = [&](auto member) {
      float values[kRows];
#pragma unroll
      for (int i = 0; i < kRows; ++i) values[i] = member(own[i]);
      return lanes_sum_each<kRows>(values);
    };
    Found total{};
    if constexpr (Norm::kHasMean) {
      total.mean = mean_of(sum_each([&](const Found& found) { return sum_of(found, count); }), warp_count);
#pragma unroll
      for (int i = 0; i < kRows; ++i) own[i] = about<Norm>(shuffle(total.mean, i * kLanes), own[i], count);
    }
    total.squares = sum_each([](const Found& found) { return found.squares; });
    if constexpr (Norm::kHasMean) total.g = sum_each([](const Found& found) { return found.g; });
    total.gx = sum_each([](const Found& found) { return found.gx; });
    return total;
  }
};

template <class T>
__device__ __forceinline__ RawVector filled(T value) {
  Vec<T, kVecElements<T>> vec;
#pragma unroll
  for (int e = 0; e < kVecElements<T>; ++e) vec[e] = value;
  return bits_of(vec);
}

// A row's vectors that this thread has, of `vectors` that the block has: number threadIdx.x + v * kThreads of them. RegisterRow without
// what all rows of a call have in common, which would take registers for each. kElements: those of 16 bytes, or 1, of rows that begin anywhere.
template <class T, int kThreads_, int kVectors_, int kElements_ = kVecElements<T>>
struct OwnVectors {
  static constexpr int kThreads = kThreads_;
  static constexpr int kVectors = kVectors_;
  static constexpr int kElements = kElements_;
  static constexpr bool kIsWide = kElements > 1;
  static_assert(!kIsWide || kElements == kVecElements<T>);
  using Vector = Vec<T, kElements>;
  using Raw = std::conditional_t<kIsWide, RawVector, Vector>;
  Raw raw[kVectors];

  __device__ __forceinline__ static bool has(int v, int vectors) {
    return static_cast<int>(threadIdx.x) + v * kThreads < vectors;
  }
  // Of a row that begins at g_row: by a constant from where the first is.
  template <class Row>
  __device__ __forceinline__ static Row* at(Row* g_row, int v) {
    return g_row + threadIdx.x * kElements + v * (kThreads * kElements);
  }
  // Elements that one thread has, or several from `first` on.
  __device__ __forceinline__ static float elements_of(int vectors, int first, int threads = 1) {
    int count = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int there = vectors - first - v * kThreads;
      count += there < 0 ? 0 : there < threads ? there : threads;
    }
    return static_cast<float>(count * kElements);
  }

  __device__ __forceinline__ static Raw filler(T value) {
    if constexpr (kIsWide)
      return filled(value);
    else
      return {{value}};
  }
  __device__ __forceinline__ static Raw loaded(const T* g_vector) {
    if constexpr (kIsWide)
      return load_bytes<kVecBytes>(g_vector);
    else
      return {{*g_vector}};
  }
  __device__ __forceinline__ static Vec<float, kElements> floats_of(const Raw& raw) {
    if constexpr (kIsWide)
      return as_floats(as_vector<T>(raw));
    else
      return as_floats(raw);
  }

  __device__ __forceinline__ void load(const T* g_row, int vectors, const Raw& instead) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      raw[v] = instead;
      if (has(v, vectors)) raw[v] = loaded(at(g_row, v));
    }
  }
  // From an element of a row that may be null: then `value` everywhere.
  __device__ __forceinline__ void load_if_there(const T* g_row, int begin, int vectors, T value) {
    load(g_row == nullptr ? nullptr : g_row + begin, g_row == nullptr ? 0 : vectors, filler(value));
  }
  // make(v) of each vector that this thread has.
  template <class Make>
  __device__ __forceinline__ void store(T* g_row, int vectors, Make make) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!has(v, vectors)) continue;
      const Vector made = make(v);
      if constexpr (kIsWide)
        store_vec(at(g_row, v), made);
      else
        *at(g_row, v) = made[0];
    }
  }
  [[nodiscard]] __device__ __forceinline__ Vec<float, kElements> floats(int v) const {
    return floats_of(raw[v]);
  }
  // What was made of the elements so far is to be made once more by what follows, and takes no registers until then. A single
  // element takes as many either way.
  __device__ __forceinline__ void forget_conversions() {
#if !defined(ROOFTILE_SIM)
    if constexpr (kIsWide) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        asm volatile("" : "+r"(raw[v].x), "+r"(raw[v].y), "+r"(raw[v].z), "+r"(raw[v].w));
    }
#endif
  }
};

// Of this thread's elements of a row, times scale; each(found, v, e, off): for each, what it is off their mean.
template <class Norm, class Own, class Each>
__device__ __forceinline__ Found found_of(const Own& row, int vectors, float scale, Each each) {
  Found found{};
  const auto for_own = [&](auto body) {
#pragma unroll
    for (int v = 0; v < Own::kVectors; ++v)
      if (Own::has(v, vectors)) body(v, row.floats(v));
  };
  if constexpr (Norm::kHasMean) {
    float sum = 0;
    for_own([&](int, const auto& x) {
      float part = 0;
#pragma unroll
      for (int e = 0; e < Own::kElements; ++e) part = fmaf(x[e], scale, part);
      sum += part;
    });
    // Of 1 to kVectors vectors: no division.
    float inverse = 1.0f / Own::kElements;
#pragma unroll
    for (int v = 1; v < Own::kVectors; ++v)
      if (Own::has(v, vectors)) inverse = 1.0f / static_cast<float>((v + 1) * Own::kElements);
    found.mean = sum * inverse;
  }
  for_own([&](int v, const auto& x) {
    float part = 0;
#pragma unroll
    for (int e = 0; e < Own::kElements; ++e) {
      const float off = fmaf(x[e], scale, -found.mean);
      part = fmaf(off, off, part);
      each(found, v, e, off);
    }
    found.squares += part;
  });
  return found;
}

// Of the row whose total this lane has. take(scale_of) gives the total of each row's elements, times scale_of(i) for row i.
template <class Norm, class Group, class Take>
__device__ __forceinline__ Found group_total(Take take, bool is_row, float length, float eps, float& scale) {
  Found total = take([](int) { return 1.0f; });
  scale = is_row ? Range::scale_for(total.squares, total.mean, length, eps) : 1.0f;
  if (__any_sync(kFullMask, scale != 1.0f))  // the same in all warps
    total = take([&](int i) { return shuffle(scale, i * Group::kLanes); });
  return total;
}
__device__ __forceinline__ Results results_of_total(const Found& total, float scale, float length,
                                                    float eps) {
  return {scale, total.mean, 1.0f / sqrtf(total.squares / length + eps * scale * scale)};
}

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
