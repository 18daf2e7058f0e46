// Few tiles: narrow ones, and parts of them along k that meet in a cluster.
//
// Idea       a block has a tile of 64 x 128 (96, 64, 32, 16), or a half or a quarter of its steps. A stage is 128 deep, one request to TMA for each
//            operand: some 150 cycles each, whatever it brings, are what small stages wait for. Parts send their sums to the blocks of
//            their cluster that have the rows, which add them up always in the same order.
// Change     blocks do not stay; all multiprocessors have some of a small product, and wait for memory once or twice.
// Limits     as warp_specialized; at most 65535 columns of tiles, and as many products of a batch.
// Bottleneck latency: launch, the first stage, then TMA's requests; sums on their way through the cluster.
// Source     PTX ISA, cp.async.bulk.tensor and st.async.
#include "rooftile/ops/gemm/rungs/wgmma_parts.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_wgmma_operands<PartsCut>(
      call, [&]<class T, bool kAlongA, bool kAlongB>(const auto&... operands) -> Status {
        switch (call.config<PartsCut>().shape) {
          case 0:
            return launch_parts<T, 0, kAlongA, kAlongB>(call, operands...);
          case 1:
            return launch_parts<T, 1, kAlongA, kAlongB>(call, operands...);
          case 3:
            if constexpr (gemm_plan::has_part_columns(3, kAlongB))
              return launch_parts<T, 3, kAlongA, kAlongB>(call, operands...);
            else
              return unsupported("no tiles of 96 columns of operands that lie so");
          case 4:
            return launch_parts<T, 4, kAlongA, kAlongB>(call, operands...);
          default:
            return launch_parts<T, 2, kAlongA, kAlongB>(call, operands...);
        }
      });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
