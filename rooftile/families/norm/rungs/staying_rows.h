// Rows in the registers of clusters that stay: weight and bias come to shared memory once, and not with every row.
#pragma once

#include "rooftile/device/sm90a/cluster_reduce.h"
#include "rooftile/families/norm/rungs/register_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// A block's part of weight and bias, at each thread's own vectors; its groups bring every other vector.
template <class Norm, class T, class Row, int kThreads, int kGroups>
class BesideStaying {
 public:
  __device__ __forceinline__ BesideStaying(const Operands<T>& call, const Row& row, RawVector* s_values)
      : row_(row), s_weight_(s_values + threadIdx.x), s_bias_(s_weight_ + Row::kVectors * kThreads) {
#pragma unroll
    for (int v = 0; v < Row::kVectors; ++v) {
      if (v % kGroups != static_cast<int>(threadIdx.y) || !row.has_all(row.first(v))) continue;
      const auto place = [&](const T* g_values) { return row.at(g_values, v); };
      s_weight_[v * kThreads] = beside_or(call.g_weight, 1.0f, place);
      if constexpr (Norm::kHasMean) s_bias_[v * kThreads] = beside_or(call.g_bias, 0.0f, place);
    }
    __syncthreads();  // what the other groups have brought is there
  }
  static constexpr std::size_t bytes() {
    return sizeof(RawVector) * Row::kCapacity * (Norm::kHasMean ? 2 : 1);
  }
  __device__ __forceinline__ void start() const {}
  __device__ __forceinline__ void apply(int v, Vec<float, Row::kElements>& made) const {
    weigh<Norm, T>(made, s_weight_[v * kThreads], Norm::kHasMean ? s_bias_[v * kThreads] : RawVector{});
  }

 private:
  const Row& row_;
  RawVector* s_weight_;
  RawVector* s_bias_;
};

// A group of a block's threads, threadIdx.y, has rows together with the same group of the cluster's other blocks. The first row of each
// group is fixed by its place in the grid; which one comes next, it asks a counter. A cluster that finds no room among the first starts
// when others have ended, by when the counter has no row left: it serves its first row and no other.
template <class Stats, int kWarps>
struct StayingGroup {
  ClusterFound<Stats, kWarps>
      found[2];  // by the rows in turn: one has been through before the other is used again
  ClusterFound<Stats, kWarps> scaled;  // by scaled elements
  ClusterFound<std::uint32_t, 1> next[2];
  __device__ __forceinline__ void init() {
    for (auto& one : found) one.init();
    scaled.init();
    for (auto& one : next) one.init();
  }
};

// To all blocks of the cluster: the number of a row that no group has yet, or one beyond the last. As often as there are rows; the last
// time leaves the counter as it was.
__device__ __forceinline__ void ask_for_row(ClusterFound<std::uint32_t, 1>& s_next, std::uint32_t* g_asked,
                                            std::uint32_t groups, std::uint32_t rows) {
  if (warp_index() != 0) return;
  if (lane_index() == 0) mbarrier_arrive_expect_tx(&s_next.there, sizeof(std::uint32_t));
  if (cluster_rank() != 0) return;
  std::uint32_t asked = 0;
  if (lane_index() == 0) {
    asked = atomicAdd(g_asked, 1u);
    if (asked == rows - 1) atomicExch(g_asked, 0u);
  }
  asked = shuffle(asked, 0);
  if (lane_index() < static_cast<int>(cluster_blocks())) {
    store_async(s_next.values, groups + asked, &s_next.there, static_cast<std::uint32_t>(lane_index()));
  }
}

template <class Norm, class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(kThreads* norm_plan::kStayingGroups,
                                  resident_threads(false) / (kThreads * norm_plan::kStayingGroups))
    staying_rows_kernel(Operands<T> call, int part, std::uint32_t* g_asked) {
  using Row = RegisterRow<T, RowThreads<kThreads>, kVectors, true>;
  using Stats = typename Norm::Stats;
  __shared__ StayingGroup<Stats, kThreads / kWarpSize> s_groups[norm_plan::kStayingGroups];
  ROOFTILE_DYN_SHARED(RawVector, s_beside);
  auto& s = s_groups[threadIdx.y];
  if (threadIdx.x == 0) {
    s.init();
    fence_mbarrier_init();
  }
  cluster_arrive();
  const auto rows = static_cast<std::uint32_t>(call.count());
  const std::uint32_t groups = gridDim.x / cluster_blocks() * norm_plan::kStayingGroups;
  std::uint32_t r = blockIdx.x / cluster_blocks() * norm_plan::kStayingGroups + threadIdx.y;
  Row row;
  const auto load = [&] {
    row.load(call.x(r), static_cast<int>(call.length()), T{}, static_cast<int>(cluster_rank()) * part, part);
  };
  load();
  BesideStaying<Norm, T, Row, kThreads, norm_plan::kStayingGroups> beside(call, row, s_beside);
  cluster_wait();  // the barriers of all blocks are ready
  std::uint32_t scaled = 0;
  for (std::uint32_t i = 0;; ++i) {
    const std::uint32_t turn = i % 2;
    const std::uint32_t parity = i / 2 % 2;
    __syncwarp();  // all lanes have read what the last row has found, and which row is next: it may be written over
    ask_for_row(s.next[turn], g_asked, groups, rows);
    const Results results = call.template results<Norm>([&](float scale) {
      const bool is_scaled = scale != 1.0f;
      return cluster_all_reduce(
          is_scaled ? s.scaled : s.found[turn], is_scaled ? scaled++ % 2 : parity, stats_of<Norm>(row, scale),
          Stats{}, [](const Stats& a, const Stats& b) { return Norm::combined(a, b); },
          [](auto lanes, const Stats& own) { return Norm::over_lanes(lanes, own); });
    });
    store_whole(row, results, beside, call.y(r));
    mbarrier_wait<MbarrierScope::cluster>(&s.next[turn].there, parity);
    r = s.next[turn].values[0];
    if (r >= rows) return;
    load();
  }
}

template <class Norm, class T, int kThreads, int kVectors, class Args>
Status launch_staying_rows(const Call<Args>& call) {
  const Cut& cut = call.template config<Cut>();
  using Row = RegisterRow<T, RowThreads<kThreads>, kVectors, true>;
  return launch(staying_rows_kernel<Norm, T, kThreads, kVectors>,
                {.grid = dim3(static_cast<unsigned>(cut.staying_clusters * cut.cluster.blocks)),
                 .block = dim3(kThreads, norm_plan::kStayingGroups),
                 .shared_bytes = BesideStaying<Norm, T, Row, kThreads, norm_plan::kStayingGroups>::bytes(),
                 .stream = call.stream,
                 .cluster = dim3(static_cast<unsigned>(cut.cluster.blocks))},
                operands_of<T>(call), cut.cluster.part, static_cast<std::uint32_t*>(call.workspace.zeroed));
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
