// 16 bytes at a time, wherever a row begins.
//
// Idea       16-byte loads, four of the matrix on their way for each lane before the first product, past L1, which is left to x.
// Change     4 to 16 times as many bytes in flight. A row that begins off its alignment is loaded from its first sector on; x's
//            vectors, which lie across two aligned ones, are put together from both in registers, and what stands in front and
//            behind is multiplied element by element.
// Limits     an output for each row in memory, x without gaps; meant for rows from a KiB on, and enough of them.
// Bottleneck DRAM.
#include "rooftile/ops/gemv/rungs/row_vectors.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

constexpr int kBlock = gemv_plan::kVectorizedBlock;

// What puts x's vectors together takes registers, too.
template <class In, class Acc, bool kSkewed>
__global__ void __launch_bounds__(kBlock, gemv_plan::kVectorizedBlocks - (kSkewed ? 1 : 0))
    vectorized_kernel(Operands<In, Acc> call) {
  const std::int64_t row = std::int64_t{blockIdx.x} * (kBlock / kWarpSize) + warp_index();
  if (row < call.outputs()) {  // the whole warp
    const auto at = call.place_of(row);
    const RowVectors<In, kSkewed> vectors(call.row(at), call.vector(at.batch), call.shape.columns);
    Acc sums[1] = {};
    vectors.add_edges(lane_index(), sums);
    add_vectors<gemv_plan::kWarpVectors, kWarpSize>(vectors, 0, static_cast<int>(vectors.vectors),
                                                    lane_index(), sums);
    const Acc total = warp_reduce(sums[0], Add{});
    if (lane_index() == 0) call.store(at, total);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch_floats(call.args, [&]<class In, class Acc>() -> Status {
    const auto operands = operands_of<In, Acc>(call);
    return call.config<Cut>().aligned
               ? launch_blocks(call, kBlock, vectorized_kernel<In, Acc, false>, operands)
               : launch_blocks(call, kBlock, vectorized_kernel<In, Acc, true>, operands);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
