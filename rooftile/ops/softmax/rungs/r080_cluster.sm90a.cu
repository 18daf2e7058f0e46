// A row in the registers of a cluster.
//
// Idea       the blocks of a cluster have a part of the row each, in registers; each sends its maximum and sum to all of them
//            (st.async), and each block waits once.
// Change     long rows in blocks that are small enough for several to be on a multiprocessor: while one waits for its sum, others load
//            or store; a block asks for its part in front of its barriers. Of few rows each has many multiprocessors.
// Limits     sm_90a; rows of up to 1 MiB without gaps, x and y alike to 16 bytes; no bias, no mask. More than 8 blocks ask for a
//            cluster that not every GPU has: H100 and H200 do.
// Bottleneck DRAM; of few rows the way there and back, which nothing overlaps.
// Source     PTX ISA, st.async, distributed shared memory.
#include "rooftile/device/register_row.h"
#include "rooftile/device/sm90a/cluster_reduce.h"
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

template <class T, int kThreads, int kVectors, bool kWhole>
__global__ void __launch_bounds__(kThreads, softmax_plan::kResidentThreads / kThreads)
    cluster_kernel(Operands<T> call, int part, bool is_load_first) {
  using Row = RegisterRow<T, RowThreads<kThreads>, kVectors, kWhole>;
  __shared__ ClusterFound<Stats, kThreads / kWarpSize> s_found;
  const auto prepare_barrier = [&] {
    if (threadIdx.x == 0) {
      s_found.init();
      fence_mbarrier_init();
    }
    cluster_arrive();
  };
  if (!is_load_first) prepare_barrier();
  const std::int64_t r = blockIdx.x / cluster_blocks();
  Row row;
  row.load(call.x(r), static_cast<int>(call.places.rows.length), static_cast<T>(kNegativeInfinity),
           static_cast<int>(cluster_rank()) * part, part);
  if (is_load_first) prepare_barrier();
  Stats stats = kNone;
  row.for_each([&](const auto& vec, int) { call.exponentials.add(stats, as_floats(vec)); });
  row.forget_conversions();  // bf16 spilled 338 bytes
  cluster_wait();            // the barriers of all blocks are ready
  stats = cluster_all_reduce(
      s_found, 0, stats, kNone,
      [&](const Stats& a, const Stats& b) { return call.exponentials.combined(a, b); },
      [&](auto lanes, const Stats& own) { return call.exponentials.over_lanes(lanes, own); });
  const Results results = call.results(stats);
  T* g_y = call.y(r);
  const auto store = [&](auto log) {
    row.store(g_y, [&](const auto& vec, int) { return results_of<log>(results, vec); });
  };
  if (results.log) {
    store(std::true_type{});
  } else {
    store(std::false_type{});
  }
}

template <class T, std::size_t kShape = 0>
Status launch_shape(const Call<SoftmaxArgs>& call) {
  constexpr RowShape kOf = softmax_plan::kClusterShapes[kShape];
  const Cut& cut = call.config<Cut>();
  if (cut.shape == static_cast<int>(kShape)) {
    if (cut.rows.is_empty()) return {};
    if (cut.rows.count > kMostBlocks / cut.blocks)
      return unsupported("more than 2^31 - 1 blocks: call it for a part of the rows");
    const auto kernel = cut.is_whole ? cluster_kernel<T, kOf.threads, kOf.vectors, true>
                                     : cluster_kernel<T, kOf.threads, kOf.vectors, false>;
    return launch(kernel,
                  {.grid = dim3(static_cast<unsigned>(cut.rows.count * cut.blocks)),
                   .block = dim3(kOf.threads),
                   .stream = call.stream,
                   .cluster = dim3(static_cast<unsigned>(cut.blocks))},
                  operands_of<T>(call), cut.part, cut.is_load_first);
  }
  if constexpr (kShape + 1 < softmax_plan::kClusterShapes.size()) return launch_shape<T, kShape + 1>(call);
  return unsupported("a longer row than a cluster's registers have room for");
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() { return launch_shape<T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
