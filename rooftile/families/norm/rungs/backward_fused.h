// Rows in registers, read once: each block has every so many-th row, and adds up its columns as they come by.
#pragma once

#include "rooftile/families/norm/rungs/backward_device.h"
#include "rooftile/families/norm/rungs/register_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm::backward {

// Every tensor is aligned: a thread has the same columns of each row. The next row is on its way while one is computed.
template <class Norm, class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(kThreads, norm_backward_plan::kResidentThreads / kThreads)
    fused_kernel(Operands<T> call) {
  using Threads = RowThreads<kThreads>;
  using Row = RegisterRow<T, Threads, kVectors>;
  using Stats = typename Norm::Stats;
  constexpr int kElements = kVecElements<T>;
  constexpr bool kLooksAhead = kVectors < 4;  // registers have no room for a second row of four
  __shared__ Stats s_stats[2][Threads::kWarps];
  __shared__ Means<float> s_means[Threads::kWarps];
  const auto n = static_cast<int>(call.length());
  Row weight;
  weight.load(call.g_weight, call.g_weight == nullptr ? 0 : n, T{});
  float dweight[kVectors][kElements] = {};
  float dbias[kVectors][kElements] = {};
  Row next_x;
  Row next_dy;
  const auto load = [&](std::int64_t r) {
    next_x.load(call.x(r), n, T{});
    next_dy.load(call.dy(r), n, T{});
  };
  if (kLooksAhead) load(blockIdx.x);
  for (std::int64_t r = blockIdx.x; r < call.count(); r += call.parts) {
    if (!kLooksAhead) load(r);
    Row x = next_x;
    Row dy = next_dy;
    if (kLooksAhead && r + call.parts < call.count()) load(r + call.parts);
    const Results results = results_of<Norm>(n, call.eps, [&](float scale) {
      return Threads::all_reduce(stats_of<Norm>(x, scale), Stats{}, s_stats[scale == 1.0f ? 0 : 1],
                                 [](auto lanes, const Stats& own) { return Norm::over_lanes(lanes, own); });
    });
    const auto g_of = [&](int v, int e) {
      const auto own = static_cast<float>(dy.vector(v)[e]);
      return call.g_weight == nullptr ? own : own * static_cast<float>(weight.vector(v)[e]);
    };
    Means<float> sums{};
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const auto own = static_cast<float>(dy.vector(v)[e]);
        // What hangs over brings nothing: 0 times what it would be may be no number.
        const bool is_there = x.has(x.first(v) + e);
        const float normalised = is_there ? results.of(static_cast<float>(x.vector(v)[e])) : 0.0f;
        dweight[v][e] = fmaf(own, normalised, dweight[v][e]);
        dbias[v][e] += own;
        sums.g += g_of(v, e);
        sums.gx = fmaf(g_of(v, e), normalised, sums.gx);
      }
    }
    x.forget_conversions();
    dy.forget_conversions();
    sums = Threads::all_reduce(sums, Means<float>{}, s_means, [](auto lanes, const Means<float>& own) {
      return Means<float>::over_lanes(lanes, own);
    });
    const Gradient gradient = Gradient::of<Norm>(results, sums.g, sums.gx, n);
    const T* g_dsum = call.dsum(r);
    x.store_by_place(call.dx(r), [&](int v) {
      Vec<T, kElements> made;
      Vec<T, kElements> added{};
      if (g_dsum != nullptr) added = Beside<T>(g_dsum, g_dsum).at(x, x.first(v));
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const float own = gradient.at(g_of(v, e), static_cast<float>(x.vector(v)[e]));
        made[e] = rounded<T>(g_dsum == nullptr ? own : own + static_cast<float>(added[e]));
      }
      return made;
    });
  }
  float* g_part = call.g_parts + std::int64_t{blockIdx.x} * 2 * n;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      const int j = (Threads::index() + v * kThreads) * kElements + e;
      if (j >= n) continue;
      g_part[j] = dweight[v][e];
      g_part[n + j] = dbias[v][e];
    }
  }
}

template <class Norm, class T, std::size_t kShape = 0, class Args>
Status launch_fused_shape(const Call<Args>& call) {
  constexpr RowShape kOf = norm_backward_plan::kRowShapes[kShape];
  if (call.template config<Cut>().shape == static_cast<int>(kShape)) {
    const Operands<T> operands = operands_of<T>(call);
    if (operands.places.rows.length == 0) return {};
    if (operands.parts > 0) {
      ROOFTILE_TRY(launch(fused_kernel<Norm, T, kOf.threads, kOf.vectors>,
                          {.grid = dim3(static_cast<unsigned>(operands.parts)),
                           .block = dim3(kOf.threads),
                           .stream = call.stream},
                          operands));
    }
    return sum_parts(call.stream, operands);
  }
  if constexpr (kShape + 1 < norm_backward_plan::kRowShapes.size())
    return launch_fused_shape<Norm, T, kShape + 1>(call);
  return unsupported("a longer row than registers have room for");
}

template <class Norm, class Args>
Status launch_fused(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args,
                                                [&]<class T>() { return launch_fused_shape<Norm, T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
