// Work divided by steps, not by tiles.
//
// Idea       the steps along k of all tiles stand in a row, and every block that the device holds has equally many of them, wherever
//            a tile ends. What is left of a whole number of rounds is divided so, or all of it; a second kernel adds up the
//            parts of tiles.
// Change     no round of blocks that leaves multiprocessors idle; two sizes of tiles; any strides, by 16 bytes where they allow it.
// Limits     strides that are not negative, lines of a tile within 4 GiB.
// Bottleneck fused multiply-adds; of small products the way to memory and back.
// Source     Osama, Merrill, Cecka, Garland and Owens (2023), "Stream-K".
#include "rooftile/ops/gemm/rungs/tile_schedule.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

template <class Tile, class T>
Status launch_for(const Call<GemmArgs>& call, const Problem& p) {
  const bool vectors_a =
      gemm_plan::has_vectors(p.a_data, {p.a.batch, p.a.column, p.a.row}, p.k, p.m, sizeof(T));
  const bool vectors_b = gemm_plan::has_vectors(p.b_data, p.b, p.k, p.n, sizeof(T));
  if (vectors_a && vectors_b) return launch_tiles<Tile, T, true, true>(call, p);
  if (vectors_a) return launch_tiles<Tile, T, true, false>(call, p);
  if (vectors_b) return launch_tiles<Tile, T, false, true>(call, p);
  return launch_tiles<Tile, T, false, false>(call, p);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return dispatch(DTypes<float, double>{}, call.args.a.dtype, [&]<class T>() -> Status {
    const Problem problem = gemm_plan::problem_of(call.args);
    if (problem.is_empty()) return {};
    if (call.config<Schedule>().is_small) return launch_for<Tile<T, true>, T>(call, problem);
    return launch_for<Tile<T, false>, T>(call, problem);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
