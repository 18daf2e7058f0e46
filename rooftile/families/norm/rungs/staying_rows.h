// Rows in the registers of clusters that stay: weight and bias come to shared memory once, and not with every row; and the next row
// comes there while one is normalised.
#pragma once

#include "rooftile/device/sm80/passing_rows.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/cluster_reduce.h"
#include "rooftile/families/norm/rungs/register_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// A block's part of weight and bias, at each thread's own vectors, of which its groups bring some each.
template <class Norm, class T, class Row, int kThreads, int kGroups>
class BesideStaying {
 public:
  static constexpr int kCapacity = Row::kCapacity * (Norm::kHasMean ? 2 : 1);  // vectors

  __device__ __forceinline__ BesideStaying(const Operands<T>& call, RawVector* s_values, int first_vector,
                                           int vectors)
      : s_weight_(s_values + threadIdx.x), s_bias_(s_weight_ + Row::kCapacity) {
#pragma unroll
    for (int v = 0; v < Row::kVectors; ++v) {
      const int own = v * kThreads + static_cast<int>(threadIdx.x);
      if (v % kGroups != static_cast<int>(threadIdx.y) || own >= vectors) continue;
      const auto place = [&](const T* g_values) { return g_values + (first_vector + own) * Row::kElements; };
      s_weight_[v * kThreads] = beside_or(call.g_weight, 1.0f, place);
      if constexpr (Norm::kHasMean) s_bias_[v * kThreads] = beside_or(call.g_bias, 0.0f, place);
    }
    __syncthreads();  // what the other groups have brought is there
  }
  __device__ __forceinline__ void start() const {}
  __device__ __forceinline__ void apply(int v, Vec<float, Row::kElements>& made) const {
    weigh<Norm, T>(made, s_weight_[v * kThreads], Norm::kHasMean ? s_bias_[v * kThreads] : RawVector{});
  }

 private:
  RawVector* s_weight_;
  RawVector* s_bias_;
};

// A group of a block's threads, threadIdx.y, has rows together with the same group of the cluster's other blocks. The first row of each
// group is fixed by its place in the grid; which one comes next, it asks a counter, a row ahead. A cluster that finds no room among the
// first starts when others have ended, by when the counter has no row left: it serves its first row and no other.
template <class Stats, int kWarps>
struct StayingGroup {
  Mbarrier come;   // this block's part of the next row has
  Mbarrier taken;  // by all warps, to registers: another one may come to its place
  ClusterFound<Stats, kWarps>
      found[2];  // by the rows in turn: one has been through before the other is used again
  ClusterFound<Stats, kWarps> scaled;  // by scaled elements
  ClusterFound<std::uint32_t, 1> next[2];
  __device__ __forceinline__ void init() {
    mbarrier_init(&come, 1);
    mbarrier_init(&taken, kWarps);
    for (auto& one : found) one.init();
    scaled.init();
    for (auto& one : next) one.init();
    fence_mbarrier_init();
  }
};

// The number of a row that no group has yet, or one beyond the last: asked by one thread of the cluster, told to all blocks later, so that
// nobody waits for the counter. As often as there are rows; the last time leaves the counter as it was.
class StayingNext {
 public:
  __device__ __forceinline__ void ask(std::uint32_t* g_asked, std::uint32_t rows) {
    if (threadIdx.x != 0 || cluster_rank() != 0) return;
    asked_ = atomicAdd(g_asked, 1u);
    if (asked_ == rows - 1) atomicExch(g_asked, 0u);
  }
  __device__ __forceinline__ void tell(ClusterFound<std::uint32_t, 1>& s_next, std::uint32_t groups) const {
    if (warp_index() != 0) return;
    if (lane_index() == 0) mbarrier_arrive_expect_tx(&s_next.there, sizeof(std::uint32_t));
    if (cluster_rank() != 0) return;
    const std::uint32_t asked = shuffle(asked_, 0);
    if (lane_index() < static_cast<int>(cluster_blocks())) {
      store_async(s_next.values, groups + asked, &s_next.there, static_cast<std::uint32_t>(lane_index()));
    }
  }

 private:
  std::uint32_t asked_ = 0;
};

// results_of() by a loop, for one copy of take(): of two, ptxas keeps what they have in common, twice a 16-bit row's registers.
template <class Norm, class Take>
__device__ __forceinline__ Results results_by_one_take(std::int64_t n, float eps, Take take) {
  const auto length = static_cast<float>(n);
  typename Norm::Stats stats{};
  float scale = 1.0f;
#pragma unroll 1
  for (bool is_again = false;; is_again = true) {
    stats = take(scale);
    if (is_again) break;
    scale = Range::scale_for(stats.squares, Norm::mean(stats), length, eps);
    if (scale == 1.0f) break;
  }
  return Results::of<Norm>(stats, scale, length, eps);
}

template <class Norm, class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(kThreads* norm_plan::kStayingGroups, 1)
    staying_rows_kernel(Operands<T> call, int part, std::uint32_t* g_asked) {
  using Row = RegisterRow<T, RowThreads<kThreads>, kVectors, true>;
  using Stats = typename Norm::Stats;
  using Beside = BesideStaying<Norm, T, Row, kThreads, norm_plan::kStayingGroups>;
  __shared__ StayingGroup<Stats, kThreads / kWarpSize> s_groups[norm_plan::kStayingGroups];
  ROOFTILE_DYN_SHARED(RawVector, s_vectors);  // weight, bias, a part of a row for each group
  auto& s = s_groups[threadIdx.y];
  RawVector* s_part = s_vectors + Beside::kCapacity + static_cast<int>(threadIdx.y) * Row::kCapacity;
  const auto length = static_cast<int>(call.length());
  const int first_vector = static_cast<int>(cluster_rank()) * part;
  const int vectors = smaller(length / Row::kElements - first_vector, part);
  const PassingRows passing(call.passing);
  const auto g_part = [&](std::int64_t r) { return call.x(r) + first_vector * Row::kElements; };
  const auto ask_for_part = [&](std::uint32_t r) {
    const auto bytes = static_cast<std::uint32_t>(vectors) * kVecBytes;
    mbarrier_arrive_expect_tx(&s.come, bytes);
    bulk_load_by_policy(s_part, g_part(r), bytes, &s.come, passing.policy());
  };
  const auto rows = static_cast<std::uint32_t>(call.count());
  const std::uint32_t groups = gridDim.x / cluster_blocks() * norm_plan::kStayingGroups;
  std::uint32_t r = blockIdx.x / cluster_blocks() * norm_plan::kStayingGroups + threadIdx.y;
  StayingNext next;
  if (threadIdx.x == 0) {
    s.init();
    ask_for_part(r);
  }
  cluster_arrive();
  next.ask(g_asked, rows);
  Beside beside(call, s_vectors, first_vector, vectors);
  cluster_wait();  // the barriers of all blocks are ready
  next.tell(s.next[0], groups);
  std::uint32_t scaled = 0;
  for (std::uint32_t i = 0;; ++i) {
    const std::uint32_t turn = i % 2;
    const std::uint32_t parity = i / 2 % 2;
    mbarrier_wait(&s.come, turn);
    Row row;
    row.load(reinterpret_cast<const T*>(s_part) - first_vector * Row::kElements, length, T{}, first_vector,
             part);
    __syncwarp();  // all lanes have taken the row, and read what the last one has found: it may be written over
    if (lane_index() == 0) mbarrier_arrive(&s.taken);
    mbarrier_wait<MbarrierScope::cluster>(&s.next[turn].there, parity);
    const std::uint32_t r_next = s.next[turn].values[0];
    if (r_next < rows && threadIdx.x == 0) {
      mbarrier_wait(&s.taken, turn);
      ask_for_part(r_next);
      next.ask(g_asked, rows);
    }
    const Results results = results_by_one_take<Norm>(length, call.eps, [&](float scale) {
      const bool is_scaled = scale != 1.0f;
      return cluster_all_reduce(
          is_scaled ? s.scaled : s.found[turn], is_scaled ? scaled++ % 2 : parity,
          stats_of<Norm, T>(row, scale), Stats{},
          [](const Stats& a, const Stats& b) { return Norm::combined(a, b); },
          [](auto lanes, const Stats& own) { return Norm::over_lanes(lanes, own); });
    });
    if (r_next < rows) next.tell(s.next[1 - turn], groups);
    store_whole(row, results, beside, call.y(r));
    passing.let_go(r, rows, std::int64_t{vectors} * kVecBytes, g_part, static_cast<int>(threadIdx.x),
                   kThreads);
    if (r_next >= rows) return;
    r = r_next;
  }
}

template <class Norm, class T, int kThreads, int kVectors, class Args>
Status launch_staying_rows(const Call<Args>& call) {
  const Cut& cut = call.template config<Cut>();
  using Row = RegisterRow<T, RowThreads<kThreads>, kVectors, true>;
  using Beside = BesideStaying<Norm, T, Row, kThreads, norm_plan::kStayingGroups>;
  return launch(
      staying_rows_kernel<Norm, T, kThreads, kVectors>,
      {.grid = dim3(static_cast<unsigned>(cut.staying_clusters * cut.cluster.blocks)),
       .block = dim3(kThreads, norm_plan::kStayingGroups),
       .shared_bytes = sizeof(RawVector) * (Beside::kCapacity + norm_plan::kStayingGroups * Row::kCapacity),
       .stream = call.stream,
       .cluster = dim3(static_cast<unsigned>(cut.cluster.blocks))},
      operands_of<T>(call), cut.cluster.part, static_cast<std::uint32_t*>(call.workspace.zeroed));
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
