// As many threads to a row as it has vectors.
//
// Idea       a row's aligned vectors of 16 bytes in the registers of 1 to 512 threads, by its length; what hangs over at its ends is
//            loaded element by element.
// Change     16 bytes for each load and store; y and dy are read once.
// Limits     rows of up to 32 KiB without gaps; y, dy and dx alike to 16 bytes.
// Bottleneck DRAM.
#include "rooftile/ops/softmax_backward/rungs/softmax_backward_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs {
namespace {

// Rows that are more than a warp's have a block to themselves.
constexpr int block_of(int threads) {
  return threads <= kWarpSize ? softmax_backward_plan::kVectorizedBlock : threads;
}

template <bool kLog, class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(block_of(kThreads), kResidentThreads<T> / block_of(kThreads))
    vectorized_kernel(Operands<T> call) {
  using Threads = RowThreads<kThreads>;
  constexpr int kRows = block_of(kThreads) / kThreads;
  __shared__ float s_sums[kRows][Threads::kWarps];
  const std::int64_t r = std::int64_t{blockIdx.x} * kRows + Threads::row();
  const bool is_row = r < call.count();
  const std::int64_t place = is_row ? r : 0;
  RowPair<kLog, T, RegisterRow<T, Threads, kVectors>> row;
  row.load(call, place, is_row ? static_cast<int>(call.length()) : 0);
  const float sum = Threads::all_reduce(row.template sum<kVectors>(), 0.0f, s_sums[Threads::row()], Sum{});
  row.write(call, place, sum);
}

template <bool kLog, class T, std::size_t kShape = 0>
Status launch_shape(const Call<SoftmaxBackwardArgs>& call) {
  constexpr RowShape kOf = softmax_backward_plan::kRowShapes[kShape];
  constexpr int kBlock = block_of(kOf.threads);
  if (call.config<Cut>().shape == static_cast<int>(kShape)) {
    return launch_rows<T>(call, vectorized_kernel<kLog, T, kOf.threads, kOf.vectors>, kBlock,
                          kBlock / kOf.threads);
  }
  if constexpr (kShape + 1 < softmax_backward_plan::kRowShapes.size())
    return launch_shape<kLog, T, kShape + 1>(call);
  return unsupported("a longer row than registers have room for");
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxBackwardArgs>& call) {
  return dispatch_call<DTypes<float, __half>>(
      call.args, [&]<class T, bool kLog>() { return launch_shape<kLog, T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs
