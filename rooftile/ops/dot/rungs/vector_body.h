// Both inputs as vectors of 16 bytes: what lies in front of them and behind, and how b's lie to a's.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/align.h"
#include "rooftile/ops/dot/rungs/dot_device.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {

// Whether b's vectors lie across two of a's alignment.
inline bool straddles(const DotArgs& args) {
  const auto apart =
      reinterpret_cast<std::uintptr_t>(args.a.data) - reinterpret_cast<std::uintptr_t>(args.b.data);
  return apart % kVecBytes != 0;
}

template <class In>
struct AlignedVectors {
  const In* g_first;
  __device__ __forceinline__ Vec<In, kVecElements<In>> load(std::int64_t i) const {
    return load_vec<LoadPolicy::no_allocate>(g_first + i * kVecElements<In>);
  }
};

// The body of both vectors: the vectors from a's first line on. Head and tail are what is in front of it and behind.
template <class In, bool kStraddling>
struct Body {
  std::int64_t head;
  std::int64_t vectors;
  AlignedVectors<In> a;
  std::conditional_t<kStraddling, StraddlingVectors<In>, AlignedVectors<In>> b;

  // Where b's vectors straddle, one of a's more in the head and one more in the tail: the bytes that are read beside b's
  // vectors are its own then.
  __device__ __forceinline__ static Body of(const In* g_a, const In* g_b, std::int64_t n) {
    constexpr int kElements = kVecElements<In>;
    std::int64_t head = elements_to_line(g_a, n) + (kStraddling ? kElements : 0);
    if (head > n) head = n;
    std::int64_t vectors = (n - head) / kElements;
    if (kStraddling && vectors > 0) --vectors;
    return {head, vectors, {g_a + head}, decltype(b){g_b + head}};
  }
};

// By block 0: the products in front of the vectors and behind them, at most one of each to a thread.
template <int kBlock, class Acc, class In, bool kStraddling>
__device__ __forceinline__ void add_head_and_tail(const Body<In, kStraddling>& body, const In* g_a,
                                                  const In* g_b, std::int64_t n, Acc& head_sum,
                                                  Acc& tail_sum) {
  constexpr int kElements = kVecElements<In>;
  static_assert(kLineBytes / sizeof(In) + kElements <= kBlock, "a thread takes one of the head at most");
  const auto thread = static_cast<std::int64_t>(threadIdx.x);
  const std::int64_t tail = body.head + body.vectors * kElements + thread;
  if (thread < body.head) head_sum = add_product(head_sum, g_a[thread], g_b[thread]);
  if (tail < n) tail_sum = add_product(tail_sum, g_a[tail], g_b[tail]);
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
