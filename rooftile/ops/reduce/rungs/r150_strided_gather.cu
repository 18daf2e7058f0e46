// Any strides.
//
// Idea       addresses are computed from the index, one element at a time. Where there are many outputs a
//            thread takes one each, so that neighbouring threads read neighbouring columns; else a block
//            does.
// Change     serves what no other rung does: gaps, permuted and zero strides, rows that no vector fits.
// Limits     two integer divisions per dimension and element.
// Bottleneck the index arithmetic, then 4-byte loads.
#include "rooftile/core/integers.h"
#include "rooftile/ops/reduce/reduce_rows.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kGatherBlock;

// A part of the dimensions, row-major.
struct Dimensions {
  int rank = 0;
  std::int64_t extents[kMaxRank] = {};
  std::int64_t strides[kMaxRank] = {};

  __device__ __forceinline__ std::int64_t offset(std::int64_t index) const {
    if (rank == 1) return index * strides[0];
    std::int64_t sum = 0;
    for (int d = rank - 1; d >= 0; --d) {
      sum += index % extents[d] * strides[d];
      index /= extents[d];
    }
    return sum;
  }
};

// Elements first, first + step ... below n, in chains of 64, and 64 chains to the next: a single chain would
// round off more than reduce promises.
template <class Reduction>
__device__ __forceinline__ typename Reduction::Acc gather(const Reduction& reduction,
                                                          const typename Reduction::In* g_first,
                                                          const Dimensions& reduced, std::int64_t first,
                                                          std::int64_t n, std::int64_t step) {
  constexpr int kChain = 64;
  auto acc = reduction.identity();
  for (std::int64_t r = first; r < n;) {
    auto chains = reduction.identity();
    for (int j = 0; j < kChain && r < n; ++j) {
      auto chain = reduction.identity();
      for (int i = 0; i < kChain && r < n; ++i, r += step) {
        chain = reduction.take(chain, g_first[reduced.offset(r)], r);
      }
      chains = reduction.combine(chains, chain);
    }
    acc = reduction.combine(acc, chains);
  }
  return acc;
}

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    gather_by_thread_kernel(const typename Reduction::In* __restrict__ g_in, Dimensions kept,
                            Dimensions reduced, std::int64_t outputs, std::int64_t n, Reduction reduction,
                            ReduceOutput out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= outputs) return;
  const auto* g_first = g_in + kept.offset(i);
  reduction.store(out, i, gather(reduction, g_first, reduced, 0, n, 1));
}

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    gather_by_block_kernel(const typename Reduction::In* __restrict__ g_in, Dimensions kept,
                           Dimensions reduced, std::int64_t n, Reduction reduction, ReduceOutput out) {
  __shared__ typename Reduction::Acc s_warp_values[kBlock / kWarpSize];
  const auto* g_first = g_in + kept.offset(blockIdx.x);
  auto acc = gather(reduction, g_first, reduced, threadIdx.x, n, kBlock);
  acc = block_reduce<kBlock>(acc, reduction.identity(), s_warp_values,
                             [&](auto a, auto b) { return reduction.combine(a, b); });
  if (threadIdx.x == 0) reduction.store(out, blockIdx.x, acc);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  const reduce_plan::Geometry& shape = call.config<reduce_plan::Cut>().shape;
  Dimensions kept;
  Dimensions reduced;
  const AxisSet axes(call.args.axes, call.args.in.rank());
  for (int d = 0; d < call.args.in.rank(); ++d) {
    Dimensions& part = axes.contains(d) ? reduced : kept;
    part.extents[part.rank] = call.args.in.shape[d];
    part.strides[part.rank] = call.args.in.strides[d];
    ++part.rank;
  }
  const std::int64_t outputs = shape.outputs();
  if (outputs == 0) return {};
  const bool by_thread = outputs >= std::int64_t{call.device.multiprocessors} * kBlock;
  const std::int64_t blocks = by_thread ? ceil_div(outputs, kBlock) : outputs;
  if (blocks > kMaxGrid) return unsupported("more than 2^39 outputs");
  const LaunchConfig config{
      .grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = call.stream};
  return dispatch_reduction(call.args, [&]<class Reduction>(const Reduction& reduction) -> Status {
    const auto* g_in = static_cast<const typename Reduction::In*>(call.args.in.data);
    const ReduceOutput out = make_output(call.args, shape.reduced);
    if (by_thread) {
      return launch(gather_by_thread_kernel<Reduction>, config, g_in, kept, reduced, outputs, shape.reduced,
                    reduction, out);
    }
    return launch(gather_by_block_kernel<Reduction>, config, g_in, kept, reduced, shape.reduced, reduction,
                  out);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
