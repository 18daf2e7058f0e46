// Rows of the matrix and x beside them as vectors of 16 bytes: what lies in front of these and behind, and how x's lie to them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/align.h"
#include "rooftile/ops/gemv/rungs/gemv_device.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {

// Read again by other rows: through L1.
template <class In>
struct CachedVectors {
  const In* g_first;
  __device__ __forceinline__ Vec<In, kVecElements<In>> load(std::int64_t i) const {
    return load_vec(g_first + i * kVecElements<In>);
  }
};

// kRows rows that lie alike. Elements 0 ... head - 1 of each stand in front of the vectors, at most as many as a warp has lanes, and so
// do those behind. kSkewed: the row begins anywhere, and its vectors with the first sector, so that a warp's load touches none
// twice; x's lie across two aligned ones. Else rows and x are aligned, and there is no head.
template <class In, bool kSkewed, int kRows = 1>
struct RowVectors {
  static constexpr int kElements = kVecElements<In>;
  static_assert(!kSkewed || kRows == 1, "rows that begin anywhere do not lie alike");
  const In* g_rows[kRows];  // beyond the first one the caller sets them
  const In* g_x;
  std::int64_t n;
  std::int64_t head;
  std::int64_t vectors;
  std::conditional_t<kSkewed, StraddlingVectors<In>, CachedVectors<In>> x;

  // Skewed, one vector more in the head and one more in the tail: what is read beside x's vectors is x's own then.
  __device__ __forceinline__ RowVectors(const In* g_first, const In* g_vector, std::int64_t elements)
      : g_rows{g_first},
        g_x(g_vector),
        n(elements),
        head(kSkewed ? elements_in_front(g_first, elements) : 0),
        vectors((elements - head) / kElements),
        x{g_vector + head} {
    if (kSkewed && vectors > 0) --vectors;
  }
  [[nodiscard]] __device__ __forceinline__ RawVector load(int row, std::int64_t i) const {
    return load_bytes<kVecBytes, LoadPolicy::no_allocate>(g_rows[row] + head + i * kElements);
  }
  // The products in front of the vectors and behind them, by one warp.
  template <class Acc>
  __device__ __forceinline__ void add_edges(int lane, Acc (&sums)[kRows]) const {
    const std::int64_t tail = head + vectors * kElements + lane;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (lane < head) sums[r] = add_product(sums[r], g_rows[r][lane], g_x[lane]);
      if (tail < n) sums[r] = add_product(sums[r], g_rows[r][tail], g_x[tail]);
    }
  }

 private:
  __device__ __forceinline__ static std::int64_t elements_in_front(const In* g_row, std::int64_t n) {
    constexpr int kSector = 32;
    static_assert(kSector / static_cast<int>(sizeof(In)) + kElements <= kWarpSize + 1, "one to a lane");
    const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(g_row) % kSector);
    const std::int64_t head = (kSector - past) % kSector / static_cast<int>(sizeof(In)) + kElements;
    return head < n ? head : n;
  }
};

// The products of `count` vectors from the first-th on, by kThreads threads side by side: kInFlight of each row on their way for
// each thread at a time, and x's loaded once for all rows.
template <int kInFlight, int kThreads, class Acc, class In, bool kSkewed, int kRows>
__device__ __forceinline__ void add_vectors(const RowVectors<In, kSkewed, kRows>& rows, std::int64_t first,
                                            int count, int thread, Acc (&totals)[kRows]) {
  using Vector = Vec<In, kVecElements<In>>;
  int i = thread;
  for (; i + (kInFlight - 1) * kThreads < count; i += kInFlight * kThreads) {
    RawVector r_a[kRows][kInFlight];
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) r_a[r][v] = rows.load(r, first + i + v * kThreads);
    }
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
      const Vector r_x = rows.x.load(first + i + v * kThreads);
#pragma unroll
      for (int r = 0; r < kRows; ++r) totals[r] += product_of<Acc>(as_vector<In>(r_a[r][v]), r_x);
    }
  }
  // Fewer than kInFlight are left: by steps, or their predicates take the registers of loads.
  constexpr int kStep = kInFlight < 4 ? kInFlight : 4;
#pragma unroll 1
  for (; i < count; i += kStep * kThreads) {
    RawVector r_a[kRows][kStep];
#pragma unroll
    for (int v = 0; v < kStep; ++v) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (i + v * kThreads < count) r_a[r][v] = rows.load(r, first + i + v * kThreads);
      }
    }
#pragma unroll
    for (int v = 0; v < kStep; ++v) {
      if (i + v * kThreads < count) {
        const Vector r_x = rows.x.load(first + i + v * kThreads);
#pragma unroll
        for (int r = 0; r < kRows; ++r) totals[r] += product_of<Acc>(as_vector<In>(r_a[r][v]), r_x);
      }
    }
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
