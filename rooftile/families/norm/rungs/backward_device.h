// What the rungs of the norms' backward passes share: a call's tensors, and a row's gradient.
#pragma once

#include <cstdint>
#include <utility>

#include "rooftile/families/norm/norm_backward_plan.h"
#include "rooftile/families/norm/rungs/norm_device.h"

namespace rooftile::ROOFTILE_TARGET::norm::backward {

using norm_backward_plan::Cut, norm_backward_plan::kX, norm_backward_plan::kDy, norm_backward_plan::kDsum,
    norm_backward_plan::kDx, norm_backward_plan::kTensors;

// A call's tensors, and where a row begins in each.
template <class T>
struct Operands {
  RowPlaces<kTensors> places;
  const T* g_x;
  const T* g_dy;
  const T* g_weight;  // null: ones
  const T* g_dsum;    // null: none
  T* g_dx;
  T* g_dweight;      // null: nobody asks
  T* g_dbias;        // the same
  Results* g_found;  // of each row; fused: null
  float* g_parts;    // of each part: n sums for dweight, n for dbias
  std::int64_t parts;
  std::int64_t part_rows;
  float eps;

  [[nodiscard]] __device__ __forceinline__ std::int64_t count() const { return places.rows.count; }
  [[nodiscard]] __device__ __forceinline__ std::int64_t length() const { return places.rows.length; }
  [[nodiscard]] __device__ __forceinline__ const T* x(std::int64_t row) const {
    return g_x + places.offset(kX, row);
  }
  [[nodiscard]] __device__ __forceinline__ const T* dy(std::int64_t row) const {
    return g_dy + places.offset(kDy, row);
  }
  [[nodiscard]] __device__ __forceinline__ const T* dsum(std::int64_t row) const {
    return g_dsum == nullptr ? nullptr : g_dsum + places.offset(kDsum, row);
  }
  [[nodiscard]] __device__ __forceinline__ T* dx(std::int64_t row) const {
    return g_dx + places.offset(kDx, row);
  }
};

// Means over a row: of g = dy * weight, and of g times what is normalised.
template <class Real>
struct Means {
  Real g;
  Real gx;

  template <class Lanes>
  __device__ __forceinline__ static Means over_lanes(Lanes lanes, const Means& own) {
    return {lanes_sum(lanes, own.g), lanes_sum(lanes, own.gx)};
  }
};

// What a row's mean and deviation hand on to each element is taken off its gradient.
struct Gradient {
  Results results;
  float mean_g;
  float mean_gx;

  template <class Norm>
  __device__ __forceinline__ static Gradient of(const Results& results, float sum_g, float sum_gx,
                                                std::int64_t n) {
    const auto length = static_cast<float>(n);
    return {results, Norm::kHasMean ? sum_g / length : 0.0f, sum_gx / length};
  }
  // Of an element's g, and of what it is normalised to.
  __device__ __forceinline__ float at(float g, float normalised) const {
    return (g - mean_g - normalised * mean_gx) * results.inverse_deviation * results.scale;
  }
};

template <class Args>
TensorView dbias_of(const Args& args) {
  if constexpr (requires { args.dbias; }) return args.dbias;
  return {};
}

template <class T, class Args>
Operands<T> operands_of(const Call<Args>& call) {
  const Args& args = call.args;
  const Cut& cut = call.template config<Cut>();
  const auto input = [](const ConstTensorView& view) {
    return static_cast<const T*>(is_absent(view) ? nullptr : view.data);
  };
  const auto output = [](const TensorView& view) {
    return static_cast<T*>(is_absent(view) ? nullptr : view.data);
  };
  auto* memory = static_cast<unsigned char*>(call.workspace.data);
  const auto parts_bytes =
      static_cast<std::int64_t>(norm_backward_plan::parts_bytes(cut.parts, cut.rows.length));
  const auto found_bytes = static_cast<std::int64_t>(call.plan.workspace.bytes) - parts_bytes;
  return {.places = RowPlaces<kTensors>::of(cut.rows),
          .g_x = input(args.x),
          .g_dy = input(args.dy),
          .g_weight = input(args.weight),
          .g_dsum = input(args.dsum),
          .g_dx = output(args.dx),
          .g_dweight = output(args.dweight),
          .g_dbias = output(dbias_of(args)),
          .g_found = found_bytes > 0 ? reinterpret_cast<Results*>(memory) : nullptr,
          .g_parts = reinterpret_cast<float*>(memory + found_bytes),
          .parts = cut.parts,
          .part_rows = cut.part_rows,
          .eps = static_cast<float>(args.eps)};
}
static_assert(sizeof(Results) == norm_backward_plan::kRowFoundBytes);

// The sums of all parts, in their order: a warp's lanes side by side in columns, its block's warps each in every kSumWarps-th part.
using PartSums = float[2][norm_backward_plan::kSumWarps][kWarpSize];
template <class T>
__device__ __forceinline__ void add_parts(const Operands<T>& call, PartSums& s_sums) {
  constexpr int kWarps = norm_backward_plan::kSumWarps;
  const std::int64_t n = call.length();
  const std::int64_t j = std::int64_t{blockIdx.x} * kWarpSize + lane_index();
  float dweight = 0;
  float dbias = 0;
  for (std::int64_t part = warp_index(); part < call.parts && j < n; part += kWarps) {
    dweight += call.g_parts[part * 2 * n + j];
    dbias += call.g_parts[part * 2 * n + n + j];
  }
  s_sums[0][warp_index()][lane_index()] = dweight;
  s_sums[1][warp_index()][lane_index()] = dbias;
  __syncthreads();  // the sums are there
  T* g_target = warp_index() == 0 ? call.g_dweight : call.g_dbias;
  if (warp_index() > 1 || g_target == nullptr || j >= n) return;
  float sum = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) sum += s_sums[warp_index()][warp][lane_index()];
  g_target[j] = rounded<T>(sum);
}
inline constexpr int kSumThreads = norm_backward_plan::kSumWarps * kWarpSize;
template <class T>
__global__ void __launch_bounds__(kSumThreads) sum_parts_kernel(Operands<T> call) {
  __shared__ PartSums s_sums;
  add_parts(call, s_sums);
}

// By this kernel, which calls add_parts.
template <class T>
Status sum_parts_by(void (*kernel)(Operands<T>), StreamRef stream, const Operands<T>& operands,
                    bool dependent) {
  if (operands.g_dweight == nullptr && operands.g_dbias == nullptr) return {};
  const std::int64_t blocks = ceil_div(operands.places.rows.length, kWarpSize);
  if (blocks > kMostBlocks) return unsupported("rows of more than 2^36 elements");
  return launch(kernel,
                {.grid = dim3(static_cast<unsigned>(blocks)),
                 .block = dim3(kSumThreads),
                 .stream = stream,
                 .dependent = dependent},
                operands);
}
template <class T>
Status sum_parts(StreamRef stream, const Operands<T>& operands) {
  return sum_parts_by(sum_parts_kernel<T>, stream, operands, false);
}

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
