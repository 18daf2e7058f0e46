// Short rows need no block.
//
// Idea       a warp takes a row: eight 16-byte loads per lane in flight, one butterfly, no shared memory, no
//            barrier.
// Change     a warp in place of a block per row.
// Limits     rows of contiguous elements; meant for rows up to a few KiB.
// Bottleneck DRAM; for rows under 512 bytes, the idle lanes.
#include "rooftile/core/integers.h"
#include "rooftile/ops/reduce/reduce_rows.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = 256;
constexpr int kRowsPerBlock = kBlock / kWarpSize;

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    warp_per_row_kernel(const typename Reduction::In* __restrict__ g_in, std::int64_t rows, std::int64_t n,
                        Reduction reduction, ReduceOutput out) {
  using In = typename Reduction::In;
  using Acc = typename Reduction::Acc;
  constexpr int kElements = kVecElements<In>;
  constexpr int kInFlight = reduce_plan::kVectorsInFlight;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kWarpSize;
  const std::int64_t lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;  // the whole warp

  const In* g_row = g_in + row * n;
  const std::int64_t head = elements_to_alignment(g_row, n);
  const In* g_body = g_row + head;
  const std::int64_t vectors = (n - head) / kElements;
  Acc acc[kInFlight];
#pragma unroll
  for (int v = 0; v < kInFlight; ++v) acc[v] = reduction.identity();

  std::int64_t i = lane;
  for (; i + (kInFlight - 1) * kWarpSize < vectors; i += kInFlight * kWarpSize) {
    Vec<In, kElements> r_vectors[kInFlight];
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
      r_vectors[v] = load_vec<LoadPolicy::no_allocate>(g_body + (i + v * kWarpSize) * kElements);
    }
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
      acc[v] = take_vec(reduction, acc[v], r_vectors[v], head + (i + v * kWarpSize) * kElements);
    }
  }
#pragma unroll
  for (int v = 0; v < kInFlight; ++v) {
    const std::int64_t rest = i + v * kWarpSize;
    if (rest < vectors) {
      acc[v] = take_vec(reduction, acc[v], load_vec<LoadPolicy::no_allocate>(g_body + rest * kElements),
                        head + rest * kElements);
    }
  }
  const std::int64_t tail = head + vectors * kElements;
  if (lane < head) acc[0] = reduction.take(acc[0], g_row[lane], lane);
  if (tail + lane < n) acc[1] = reduction.take(acc[1], g_row[tail + lane], tail + lane);

#pragma unroll
  for (int width = kInFlight / 2; width > 0; width /= 2) {
#pragma unroll
    for (int v = 0; v < width; ++v) acc[v] = reduction.combine(acc[v], acc[v + width]);
  }
  const Acc total = warp_reduce(acc[0], [&](Acc a, Acc b) { return reduction.combine(a, b); });
  if (lane == 0) reduction.store(out, row, total);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_reduction(call.args, [&]<class Reduction>(const Reduction& reduction) -> Status {
    const reduce_plan::Geometry& shape = call.config<reduce_plan::Cut>().shape;
    if (shape.outer == 0) return {};
    const std::int64_t blocks = ceil_div(shape.outer, kRowsPerBlock);
    if (blocks > kMaxGrid) return unsupported("more than 2^34 rows");
    return launch(warp_per_row_kernel<Reduction>,
                  {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = call.stream},
                  static_cast<const typename Reduction::In*>(call.args.in.data), shape.outer, shape.reduced,
                  reduction, make_output(call.args, shape.reduced));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
