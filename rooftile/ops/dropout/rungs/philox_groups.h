// A thread for groups of elements that are a vector: what philox_grouped and philox_vectorized share.
#pragma once

#include "rooftile/device/warp.h"
#include "rooftile/ops/dropout/rungs/dropout_device.h"

namespace rooftile::ROOFTILE_TARGET::dropout_rungs {

// Of a thread, a block apart: so many vectors are on their way at once. Fewer registers leave room for more threads, which hides more than
// more vectors do; of 16-bit elements a vector is two calls of Philox by itself.
template <class T>
inline constexpr int kGroupsOfThread = sizeof(T) == sizeof(float) ? 2 : 1;

template <class T>
using Group = Vec<T, kVecElements<T>>;

// By a vector of 16 bytes where kVectors says that it is aligned, and all there.
template <bool kVectors, class T>
__device__ __forceinline__ Group<T> load_group(const T* g_from, std::int64_t first, std::int64_t count) {
  constexpr int kElements = kVecElements<T>;
  if (kVectors && first + kElements <= count) return load_vec(g_from + first);
  Group<T> group{};
#pragma unroll
  for (int e = 0; e < kElements; ++e)
    if (first + e < count) group[e] = g_from[first + e];
  return group;
}

template <bool kVectors, class T>
__device__ __forceinline__ void store_group(T* g_to, std::int64_t first, std::int64_t count,
                                            const Group<T>& group) {
  constexpr int kElements = kVecElements<T>;
  if (kVectors && first + kElements <= count) {
    store_vec(g_to + first, group);
    return;
  }
#pragma unroll
  for (int e = 0; e < kElements; ++e)
    if (first + e < count) g_to[first + e] = group[e];
}

// The group's bits of the mask: eight elements are a byte, of which a group of four has half and its neighbour the other.
template <int kElements, class T>
__device__ __forceinline__ void store_bits(const Operands<T>& call, std::int64_t first, unsigned kept) {
  if constexpr (kElements == 8) {
    if (first < call.count) call.g_mask[first / 8] = static_cast<std::uint8_t>(kept);
  } else {
    const unsigned other = shuffle_xor(kept, 1);
    if (lane_index() % 2 == 0 && first < call.count)
      call.g_mask[first / 8] = static_cast<std::uint8_t>(kept | other << kWords);
  }
}

// The group's bytes of the mask: by one store where kVectors asks for it and the mask allows it.
template <bool kVectors, int kElements, class T>
__device__ __forceinline__ void store_mask_bytes(const Operands<T>& call, std::int64_t first, unsigned kept) {
  std::uint8_t* g_mask = call.g_mask + first;
  if (kVectors && first + kElements <= call.count &&
      reinterpret_cast<std::uintptr_t>(call.g_mask) % kElements == 0) {
    Vec<std::uint8_t, kElements> bytes;
#pragma unroll
    for (int e = 0; e < kElements; ++e) bytes[e] = kept >> e & 1u;
    store_vec(g_mask, bytes);
    return;
  }
#pragma unroll
  for (int e = 0; e < kElements; ++e)
    if (first + e < call.count) g_mask[e] = kept >> e & 1u;
}

template <bool kVectors, class T>
__global__ void __launch_bounds__(kBlock) groups_kernel(Operands<T> call) {
  constexpr int kElements = kVecElements<T>;
  constexpr int kGroups = kGroupsOfThread<T>;
  const std::int64_t first_group = std::int64_t{blockIdx.x} * kBlock * kGroups + threadIdx.x;
  const std::uint64_t stream = call.stream();
  Group<T> x[kGroups];
  Group<T> residual[kGroups] = {};
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const std::int64_t first = (first_group + g * kBlock) * kElements;
    x[g] = load_group<kVectors>(call.g_x, first, call.count);
    if (call.g_residual != nullptr) residual[g] = load_group<kVectors>(call.g_residual, first, call.count);
  }
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const std::int64_t first = (first_group + g * kBlock) * kElements;
    unsigned kept = 0;
#pragma unroll
    for (int quad = 0; quad < kElements / kWords; ++quad)
      kept |= call.kept_of(first / kWords + quad, stream) << (quad * kWords);
    std::uint64_t column =
        call.g_bias == nullptr
            ? 0
            : call.by_columns.divide_with_remainder(static_cast<std::uint64_t>(first)).remainder;
    Group<T> y;
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      auto v = static_cast<float>(x[g][e]);
      if (call.g_bias != nullptr) {
        v += static_cast<float>(call.g_bias[column]);
        if (++column == call.by_columns.divisor()) column = 0;
      }
      y[e] = rounded<T>(call.result(v, (kept >> e & 1u) != 0, static_cast<float>(residual[g][e])));
    }
    store_group<kVectors>(call.g_y, first, call.count, y);
    if (call.g_mask == nullptr) continue;
    if (call.is_bits) {
      store_bits<kElements>(call, first, kept);
    } else {
      store_mask_bytes<kVectors, kElements>(call, first, kept);
    }
  }
}

template <bool kVectors>
Status launch_groups(const Call<DropoutArgs>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() {
    return launch_elements<T>(call, groups_kernel<kVectors, T>, kVecElements<T> * kGroupsOfThread<T>);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dropout_rungs
