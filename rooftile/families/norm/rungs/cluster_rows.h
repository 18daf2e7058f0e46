// A row in the registers of a cluster: each block has a part, and each waits once for what all have found.
#pragma once

#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/cluster_reduce.h"
#include "rooftile/families/norm/rungs/register_rows.h"
#include "rooftile/families/norm/rungs/staying_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// From memory to L2: this block's part of weight and bias. Nobody waits for it.
template <class Norm, class T>
__device__ __forceinline__ void prefetch_beside(const Operands<T>& call, int first_vector, int vectors) {
  const std::int64_t first = std::int64_t{first_vector} * kVecElements<T>;
  const std::int64_t left = call.length() - first;
  const std::int64_t elements = smaller(left, std::int64_t{vectors} * kVecElements<T>);
  if (elements <= 0) return;
  const auto bytes = static_cast<std::uint32_t>(elements * static_cast<std::int64_t>(sizeof(T)));
  if (call.g_weight != nullptr) bulk_prefetch(call.g_weight + first, bytes);
  if (Norm::kHasMean && call.g_bias != nullptr) bulk_prefetch(call.g_bias + first, bytes);
}

// How blocks begin, which tells several percent apart: the row's loads in front of the barriers, where others load and store meanwhile;
// behind them, where all blocks are there at once and wait for the cluster's barrier and for memory at the same time.
struct ClusterStart {
  bool is_load_first;
  bool is_prefetching;  // weight and bias to L2, or to the front of it
};

template <class Norm, bool kResidual, class T, int kThreads, int kVectors, bool kWhole>
__global__ void __launch_bounds__(kThreads, resident_threads(kResidual, kVectors) / kThreads)
    cluster_rows_kernel(Operands<T> call, int part, ClusterStart start) {
  using Stats = typename Norm::Stats;
  __shared__ ClusterFound<Stats, kThreads / kWarpSize>
      s_found[2];  // by the first statistics, by those of scaled elements
  const auto prepare_barriers = [&] {
    if (threadIdx.x == 0) {
      s_found[0].init();
      s_found[1].init();
      fence_mbarrier_init();
    }
    cluster_arrive();
  };
  if (!start.is_load_first) prepare_barriers();
  const std::int64_t r = blockIdx.x / cluster_blocks();
  const int first_vector = static_cast<int>(cluster_rank()) * part;
  RegisterRow<T, RowThreads<kThreads>, kVectors, kWhole> row;
  row.load(call.x(r), static_cast<int>(call.length()), T{}, first_vector, part);
  if constexpr (kWhole) {
    if (start.is_prefetching && threadIdx.x == 0) prefetch_beside<Norm>(call, first_vector, part);
  }
  if (start.is_load_first) prepare_barriers();
  if constexpr (kResidual) add_residual(row, call.residual(r));
  cluster_wait();  // the barriers of all blocks are ready
  const Results results = call.template results<Norm>([&](float scale) {
    return cluster_all_reduce(
        s_found[scale == 1.0f ? 0 : 1], 0, stats_of<Norm, T>(row, scale), Stats{},
        [](const Stats& a, const Stats& b) { return Norm::combined(a, b); },
        [](auto lanes, const Stats& own) { return Norm::over_lanes(lanes, own); });
  });
  if constexpr (kWhole) {
    store_beside<Norm, 1>(call, row, results, call.y(r));
  } else {
    store_results(call, row, results, call.y(r));
  }
}

// As measured on an H100: blocks of 512 threads, of which two are on a multiprocessor, gain nothing from loads in front; weights of
// clusters of 16 do from being asked for early, if there are many rows.
inline ClusterStart cluster_start(std::int64_t blocks_at_once, std::int64_t rows, int blocks, int threads) {
  constexpr int kSmallBlock = 256;
  constexpr int kManyTimes = 8;
  const bool is_load_first = threads <= kSmallBlock && rows * blocks > blocks_at_once;
  return {.is_load_first = is_load_first,
          .is_prefetching =
              is_load_first && blocks == kMostClusterBlocks && rows * blocks >= kManyTimes * blocks_at_once};
}

template <class Norm, bool kResidual, class T, std::size_t kShape = 0, class Args>
Status launch_cluster_shape(const Call<Args>& call) {
  constexpr RowShape kOf = norm_plan::kClusterShapes[kShape];
  const Cut& cut = call.template config<Cut>();
  if (cut.shape == static_cast<int>(kShape)) {
    if (cut.rows.is_empty()) return {};
    if constexpr (!kResidual && kShape == norm_plan::kStayingShape) {
      if (cut.staying_clusters > 0) return launch_staying_rows<Norm, T, kOf.threads, kOf.vectors>(call);
    }
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
                  operands_of<T>(call), cut.cluster.part,
                  cluster_start(std::int64_t{resident_threads(kResidual, kOf.vectors)} / kOf.threads *
                                    call.device.multiprocessors,
                                cut.rows.count, cut.cluster.blocks, kOf.threads));
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
