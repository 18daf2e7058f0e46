// Rows with gaps between them, or between their elements.
//
// Idea       as philox_vectorized, but a thread asks for the row and the column of each of its vectors: one division for both.
// Change     tensors may lie as views do; where rows are whole vectors at multiples of 16 bytes they come and go as such.
// Limits     axes in front of the last that lie at two strides at most.
// Bottleneck DRAM, and sectors that gaps leave half used; single elements where rows hold no vectors.
#include "rooftile/device/row_places.h"
#include "rooftile/ops/dropout/rungs/philox_groups.h"

namespace rooftile::ROOFTILE_TARGET::dropout_rungs {
namespace {

using dropout_plan::kResidual, dropout_plan::kTensors, dropout_plan::kX, dropout_plan::kY;
using Places = RowPlaces<kTensors>;

constexpr int kVectorsOfThread = 2;  // a block apart, on their way at once

struct Place {
  std::int64_t row;
  std::int64_t column;
};

// visit(e, offset) for each of `elements` from a place on, as far as there are `left`.
template <int kElements, class Visit>
__device__ __forceinline__ void for_each_place(const Places& places, std::size_t tensor, Place at,
                                               std::int64_t left, Visit visit) {
  const std::int64_t step = places.rows.tensors[tensor].step;
  std::int64_t row_begins = places.offset(tensor, at.row);
#pragma unroll
  for (int e = 0; e < kElements; ++e) {
    if (e >= left) break;
    visit(e, row_begins + at.column * step);
    if (++at.column == places.rows.length) {
      at = {at.row + 1, 0};
      row_begins = places.offset(tensor, at.row);
    }
  }
}

template <bool kVectors, class T>
__device__ __forceinline__ Group<T> load_places(const T* g_tensor, const Places& places, std::size_t tensor,
                                                const Place& at, std::int64_t left) {
  Group<T> group{};
  if constexpr (kVectors) {
    if (left > 0) group = load_vec(g_tensor + places.offset(tensor, at.row) + at.column);
  } else {
    for_each_place<kVecElements<T>>(places, tensor, at, left,
                                    [&](int e, std::int64_t offset) { group[e] = g_tensor[offset]; });
  }
  return group;
}

// kVectors: rows are whole vectors at multiples of 16 bytes.
template <bool kVectors, class T>
__global__ void __launch_bounds__(kBlock) strided_rows_kernel(Operands<T> call, Places places) {
  constexpr int kElements = kVecElements<T>;
  const std::int64_t first_group = std::int64_t{blockIdx.x} * kBlock * kVectorsOfThread + threadIdx.x;
  const std::uint64_t stream = call.stream();
  const auto first_of = [&](int g) { return (first_group + g * kBlock) * kElements; };
  Place at[kVectorsOfThread];
  Group<T> x[kVectorsOfThread];
  Group<T> residual[kVectorsOfThread] = {};
#pragma unroll
  for (int g = 0; g < kVectorsOfThread; ++g) {
    const std::int64_t left = call.count - first_of(g);
    const auto parts = call.by_columns.divide_with_remainder(static_cast<std::uint64_t>(first_of(g)));
    at[g] = {static_cast<std::int64_t>(parts.quotient), static_cast<std::int64_t>(parts.remainder)};
    x[g] = load_places<kVectors>(call.g_x, places, kX, at[g], left);
    if (call.g_residual != nullptr)
      residual[g] = load_places<kVectors>(call.g_residual, places, kResidual, at[g], left);
  }
#pragma unroll
  for (int g = 0; g < kVectorsOfThread; ++g) {
    const std::int64_t first = first_of(g);
    const std::int64_t left = call.count - first;
    unsigned kept = 0;
#pragma unroll
    for (int quad = 0; quad < kElements / kWords; ++quad)
      kept |= call.kept_of(first / kWords + quad, stream) << (quad * kWords);
    std::int64_t column = at[g].column;
    Group<T> y;
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      auto v = static_cast<float>(x[g][e]);
      if (call.g_bias != nullptr) {
        v += static_cast<float>(call.g_bias[column]);
        if (++column == places.rows.length) column = 0;
      }
      y[e] = rounded<T>(call.result(v, (kept >> e & 1u) != 0, static_cast<float>(residual[g][e])));
    }
    if constexpr (kVectors) {
      // The compiler would take a plain store apart, to share its pieces with what follows.
      if (left > 0)
        store_vec<StorePolicy::no_allocate>(call.g_y + places.offset(kY, at[g].row) + at[g].column, y);
    } else {
      for_each_place<kElements>(places, kY, at[g], left,
                                [&](int e, std::int64_t offset) { call.g_y[offset] = y[e]; });
    }
    if (call.g_mask == nullptr) continue;
    if (call.is_bits) {
      store_bits<kElements>(call, first, kept);
    } else {
#pragma unroll
      for (int e = 0; e < kElements; ++e)
        if (e < left) call.g_mask[first + e] = kept >> e & 1u;
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DropoutArgs>& call) {
  const Places places = Places::of(dropout_plan::geometry(call.args));
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() {
    constexpr std::int64_t kElements = kVecElements<T> * kVectorsOfThread;
    return dropout_plan::has_vector_rows(call.args)
               ? launch_elements<T>(call, strided_rows_kernel<true, T>, kElements, places)
               : launch_elements<T>(call, strided_rows_kernel<false, T>, kElements, places);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dropout_rungs
