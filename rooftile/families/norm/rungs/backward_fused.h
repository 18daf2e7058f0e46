// Rows in registers, read once: each block has every so many-th row, several at a time, and adds up its columns as they come by.
#pragma once

#include "rooftile/families/norm/rungs/backward_device.h"
#include "rooftile/families/norm/rungs/backward_group.h"

namespace rooftile::ROOFTILE_TARGET::norm::backward {

// From a row's total.
template <class Norm>
__device__ __forceinline__ Gradient gradient_of(const Found& total, float scale, int n, float eps) {
  const Results results = results_of_total(total, scale, static_cast<float>(n), eps);
  return Gradient::of<Norm>(results, total.g, total.gx * results.inverse_deviation, n);
}

// A thread has the same columns of each row. The next rows are on their way while some are computed. The sums of
// g = dy * weight, and of g times what x is off its mean, come together with the statistics.
template <class Norm, class T, int kThreads, int kVectors, int kElements, int kRows, bool kLooksAhead>
__global__ void __launch_bounds__(kThreads, norm_backward_plan::kResidentThreads / kThreads)
    fused_kernel(Operands<T> call) {
  using Group = RowGroup<Norm, kThreads, kRows>;
  using Own = OwnVectors<T, kThreads, kVectors, kElements>;
  __shared__ typename Group::Shared s_group;
  __shared__ Gradient s_gradients[2][Group::kWarps][kRows];
  const auto n = static_cast<int>(call.length());
  const auto length = static_cast<float>(n);
  const int vectors = n / kElements;
  Group::template init<Own>(s_group, vectors);
  Own weight;
  weight.load_if_there(call.g_weight, 0, vectors, rounded<T>(1.0f));
  // Where registers are few it comes from L1, again and again.
  const auto weight_at = [&](int v) {
    if (kLooksAhead || call.g_weight == nullptr) return weight.floats(v);
    return Own::floats_of(Own::loaded(Own::at(call.g_weight, v)));
  };
  float dweight[kVectors][kElements] = {};
  float dbias[kVectors][kElements] = {};
  Own next_x[kRows];
  Own next_dy[kRows];
  const auto row_of = [&](std::int64_t first, int i) { return first + call.parts * i; };
  const auto load = [&](std::int64_t first) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const std::int64_t r = row_of(first, i);
      const bool is_row = r < call.count();
      next_x[i].load(call.x(is_row ? r : 0), is_row ? vectors : 0, Own::filler(T{}));
      next_dy[i].load(call.dy(is_row ? r : 0), is_row ? vectors : 0, Own::filler(T{}));
    }
  };
  if constexpr (kLooksAhead) load(blockIdx.x);
  int round = 0;
  int turn = 0;
  for (std::int64_t first = blockIdx.x; first < call.count(); first = row_of(first, kRows)) {
    if constexpr (!kLooksAhead) load(first);
    Own x[kRows];
    Own dy[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      x[i] = next_x[i];
      dy[i] = next_dy[i];
    }
    if constexpr (kLooksAhead) load(row_of(first, kRows));
    float scale = 1;
    const Found total = group_total<Norm, Group>(
        [&](auto scale_of) {
          Found own[kRows];
#pragma unroll
          for (int i = 0; i < kRows; ++i) {
            own[i] = found_of<Norm>(x[i], vectors, scale_of(i), [&](Found& found, int v, int e, float off) {
              const float g = dy[i].floats(v)[e] * weight_at(v)[e];
              found.g += g;
              found.gx = fmaf(g, off, found.gx);
            });
          }
          return Group::all_reduce(s_group, round++, own,
                                   Own::elements_of(vectors, static_cast<int>(threadIdx.x)), length);
        },
        row_of(first, lane_index() / Group::kLanes) < call.count(), length, call.eps, scale);
    turn ^= 1;
    Group::share(s_gradients[turn], gradient_of<Norm>(total, scale, n, call.eps));
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const std::int64_t r = row_of(first, i);
      if (r >= call.count()) break;
      x[i].forget_conversions();
      dy[i].forget_conversions();
      weight.forget_conversions();
      const Gradient gradient = s_gradients[turn][warp_index()][i];
      const T* g_dsum = call.dsum(r);
      x[i].store(call.dx(r), vectors, [&](int v) {
        const auto values = x[i].floats(v);
        const auto gradients = dy[i].floats(v);
        const auto w = weight_at(v);
        Vec<float, kElements> past{};
        if (g_dsum != nullptr) past = Own::floats_of(Own::loaded(Own::at(g_dsum, v)));
        Vec<T, kElements> made;
#pragma unroll
        for (int e = 0; e < kElements; ++e) {
          const float normalised = gradient.results.of(values[e]);
          dweight[v][e] = fmaf(gradients[e], normalised, dweight[v][e]);
          if constexpr (Norm::kHasMean) dbias[v][e] += gradients[e];
          made[e] = rounded<T>(past[e] + gradient.at(gradients[e] * w[e], normalised));
        }
        return made;
      });
    }
  }
  float* g_part = call.g_parts + std::int64_t{blockIdx.x} * 2 * n;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (!Own::has(v, vectors)) continue;
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      Own::at(g_part, v)[e] = dweight[v][e];
      Own::at(g_part + n, v)[e] = dbias[v][e];
    }
  }
}

// By vectors of 16 bytes, or element by element.
template <class Norm, class T, bool kWide, std::size_t kShape = 0, class Args>
Status launch_fused_shape(const Call<Args>& call) {
  constexpr const auto& kShapes = norm_backward_plan::group_shapes<kWide>();
  constexpr norm_backward_plan::GroupShape kOf = kShapes[kShape];
  constexpr int kElements = kWide ? kVecElements<T> : 1;
  if (call.template config<Cut>().shape == static_cast<int>(kShape)) {
    const Operands<T> operands = operands_of<T>(call);
    if (operands.places.rows.length == 0) return {};
    if (operands.parts > 0) {
      ROOFTILE_TRY(
          launch(fused_kernel<Norm, T, kOf.threads, kOf.vectors, kElements, kOf.rows, kOf.looks_ahead>,
                 {.grid = dim3(static_cast<unsigned>(operands.parts)),
                  .block = dim3(kOf.threads),
                  .stream = call.stream},
                 operands));
    }
    return sum_parts(call.stream, operands);
  }
  if constexpr (kShape + 1 < kShapes.size()) return launch_fused_shape<Norm, T, kWide, kShape + 1>(call);
  return unsupported("a longer row than registers have room for");
}

template <class Norm, bool kWide, class Args>
Status launch_fused(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(
      call.args, [&]<class T>() { return launch_fused_shape<Norm, T, kWide>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
