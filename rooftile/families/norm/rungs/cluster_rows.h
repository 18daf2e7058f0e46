// A row in the registers of a cluster: each block has a part, and each waits once for what all have found.
#pragma once

#include "rooftile/device/sm90a/cluster_reduce.h"
#include "rooftile/families/norm/rungs/register_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm {

template <class Norm, bool kResidual, class T, int kThreads, int kVectors, bool kWhole>
__global__ void __launch_bounds__(kThreads, resident_threads(kResidual) / kThreads)
    cluster_rows_kernel(Operands<T> call, int part) {
  using Stats = typename Norm::Stats;
  __shared__ ClusterFound<Stats, kThreads / kWarpSize>
      s_found[2];  // by the first statistics, by those of scaled elements
  if (threadIdx.x == 0) {
    s_found[0].init();
    s_found[1].init();
    fence_mbarrier_init();
  }
  cluster_arrive();
  const std::int64_t r = blockIdx.x / cluster_blocks();
  RegisterRow<T, RowThreads<kThreads>, kVectors, kWhole> row;
  row.load(call.x(r), static_cast<int>(call.length()), T{}, static_cast<int>(cluster_rank()) * part, part);
  if constexpr (kResidual) add_residual(row, call.residual(r));
  cluster_wait();  // the barriers of all blocks are ready
  const Results results = call.template results<Norm>([&](float scale) {
    return cluster_all_reduce(
        s_found[scale == 1.0f ? 0 : 1], 0, stats_of<Norm>(row, scale), Stats{},
        [](const Stats& a, const Stats& b) { return Norm::combined(a, b); },
        [](auto lanes, const Stats& own) { return Norm::over_lanes(lanes, own); });
  });
  if constexpr (kWhole) {
    BesideWhole<Norm, T, decltype(row), true> beside(call, row);
    store_whole(row, results, beside, call.y(r));
  } else {
    store_results(call, row, results, call.y(r));
  }
}

template <class Norm, bool kResidual, class T, std::size_t kShape = 0, class Args>
Status launch_cluster_shape(const Call<Args>& call) {
  constexpr RowShape kOf = norm_plan::kClusterShapes[kShape];
  const Cut& cut = call.template config<Cut>();
  if (cut.shape == static_cast<int>(kShape)) {
    if (cut.rows.is_empty()) return {};
    if (cut.rows.count > kMostBlocks / cut.cluster.blocks)
      return unsupported("more than 2^31 - 1 blocks: call it for a part of the rows");
    const auto kernel = cut.is_whole
                            ? cluster_rows_kernel<Norm, kResidual, T, kOf.threads, kOf.vectors, true>
                            : cluster_rows_kernel<Norm, kResidual, T, kOf.threads, kOf.vectors, false>;
    return launch(kernel,
                  {.grid = dim3(static_cast<unsigned>(cut.rows.count * cut.cluster.blocks)),
                   .block = dim3(kOf.threads),
                   .stream = call.stream,
                   .cluster = dim3(static_cast<unsigned>(cut.cluster.blocks))},
                  operands_of<T>(call), cut.cluster.part);
  }
  if constexpr (kShape + 1 < norm_plan::kClusterShapes.size())
    return launch_cluster_shape<Norm, kResidual, T, kShape + 1>(call);
  return unsupported("a longer row than a cluster's registers have room for");
}

template <class Norm, class Args>
Status launch_cluster_rows(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() {
    return is_absent(call.args.residual) ? launch_cluster_shape<Norm, false, T>(call)
                                         : launch_cluster_shape<Norm, true, T>(call);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
