// Work divided by steps, not by tiles.
//
// Idea       the steps along k of all tiles stand in a row, and every block that the device holds has equally many of them, wherever
//            a tile ends. What is left of a whole number of rounds is divided so, or all of it; a second kernel adds up the
//            parts of tiles.
// Change     no round of blocks that leaves multiprocessors idle; three sizes of tiles; any strides, by 16 bytes where they allow it.
// Limits     strides that are not negative, two tiles of an operand within 4 GiB.
// Bottleneck fused multiply-adds; of small products the way to memory and back.
// Source     Osama, Merrill, Cecka, Garland and Owens (2023), "Stream-K".
#include "rooftile/ops/gemm/rungs/tile_schedule.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

template <class T, TileSize kSize>
Status launch_size(const Call<GemmArgs>& call, const Problem& p) {
  using S = Tile<T, kSize>;
  const gemm_plan::CopyWays ways = gemm_plan::copy_ways(p, sizeof(T));
  if (ways.a == CopyWay::single) return launch_tiles<S, T, CopyWay::single, CopyWay::single>(call, p);
  const bool is_turned = ways.b == CopyWay::turned;
  if (ways.a == CopyWay::along)
    return is_turned ? launch_tiles<S, T, CopyWay::along, CopyWay::turned>(call, p)
                     : launch_tiles<S, T, CopyWay::along, CopyWay::along>(call, p);
  return is_turned ? launch_tiles<S, T, CopyWay::turned, CopyWay::turned>(call, p)
                   : launch_tiles<S, T, CopyWay::turned, CopyWay::along>(call, p);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return dispatch(DTypes<float, double>{}, call.args.a.dtype, [&]<class T>() -> Status {
    const Problem problem = gemm_plan::problem_of(call.args);
    if (problem.is_empty()) return {};
    const TileSize size = call.config<Schedule>().size;
    if (size == TileSize::tiny) return launch_size<T, TileSize::tiny>(call, problem);
    if constexpr (gemm_plan::has_tiles(sizeof(T), TileSize::sliced)) {
      if (size == TileSize::sliced) return launch_size<T, TileSize::sliced>(call, problem);
    }
    return launch_size<T, TileSize::large>(call, problem);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
