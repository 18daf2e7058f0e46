// A row in the registers of a cluster.
//
// Idea       the blocks of a cluster have a part of the row each; each warp sends its sum to all of them (st.async), and each block waits
//            once.
// Change     long rows in blocks that are small enough for several to be on a multiprocessor; of few rows each has many
//            multiprocessors.
// Limits     sm_90a; rows from 1 KiB to 512 KiB without gaps; y, dy and dx alike to 16 bytes. More than 8 blocks ask for a cluster that not
//            every GPU has: H100 and H200 do.
// Bottleneck DRAM; of few rows the way there and back, which nothing overlaps.
// Source     PTX ISA, st.async, distributed shared memory.
#include "rooftile/device/sm90a/cluster_reduce.h"
#include "rooftile/ops/softmax_backward/rungs/softmax_backward_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs {
namespace {

template <bool kLog, class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(kThreads, kResidentThreads<T> / kThreads)
    cluster_kernel(Operands<T> call, int part) {
  __shared__ ClusterFound<float, kThreads / kWarpSize> s_found;
  if (threadIdx.x == 0) {
    s_found.init();
    fence_mbarrier_init();
  }
  cluster_arrive();
  const std::int64_t r = blockIdx.x / cluster_blocks();
  RowPair<kLog, T, RegisterRow<T, RowThreads<kThreads>, kVectors>> row;
  row.load(call, r, static_cast<int>(call.length()), static_cast<int>(cluster_rank()) * part, part);
  cluster_wait();  // the barriers of all blocks are ready
  const float sum = cluster_all_reduce(
      s_found, 0, row.template sum<kVectors>(), 0.0f, [](float a, float b) { return a + b; }, Sum{});
  row.write(call, r, sum);
}

template <bool kLog, class T, std::size_t kShape = 0>
Status launch_shape(const Call<SoftmaxBackwardArgs>& call) {
  constexpr RowShape kOf = softmax_backward_plan::kClusterShapes[kShape];
  const Cut& cut = call.config<Cut>();
  if (cut.shape == static_cast<int>(kShape)) {
    if (cut.rows.is_empty()) return {};
    if (cut.rows.count > kMostBlocks / cut.cluster.blocks)
      return unsupported("more than 2^31 - 1 blocks: call it for a part of the rows");
    return launch(cluster_kernel<kLog, T, kOf.threads, kOf.vectors>,
                  {.grid = dim3(static_cast<unsigned>(cut.rows.count * cut.cluster.blocks)),
                   .block = dim3(kOf.threads),
                   .stream = call.stream,
                   .cluster = dim3(static_cast<unsigned>(cut.cluster.blocks))},
                  operands_of<T>(call), cut.cluster.part);
  }
  if constexpr (kShape + 1 < softmax_backward_plan::kClusterShapes.size())
    return launch_shape<kLog, T, kShape + 1>(call);
  return unsupported("a longer row than a cluster's registers have room for");
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxBackwardArgs>& call) {
  return dispatch_call<DTypes<float, __half>>(
      call.args, [&]<class T, bool kLog>() { return launch_shape<kLog, T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs
