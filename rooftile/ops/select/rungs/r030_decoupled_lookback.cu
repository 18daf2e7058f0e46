// One pass.
//
// Idea       a tile publishes its count at once and its place in the output later; it looks back over the tiles in front
//            until it meets one that knows its place. Chosen items are sorted out in shared memory, so that a warp writes
//            side by side.
// Change     every element is read once, in one launch; every dtype; 16-byte loads, up to four of them in flight per thread.
// Limits     none.
// Bottleneck waiting for the place, which few tiles per multiprocessor hide.
// Source     Merrill and Garland (2016).
#include "rooftile/ops/select/rungs/select_device.h"

namespace rooftile::ROOFTILE_TARGET::select_rungs {

Status ROOFTILE_RUNG(const Call<SelectArgs>& call) {
  return dispatch_all(call.args, [&]<class Chooser>(const Chooser& chooser) {
    using In = typename Chooser::In;
    const auto& cut = call.config<select_plan::Cut>();
    const Elements<In> from = elements_of<In>(call.args);
    const Results<In> results = results_of<In>(call.args);
    return cut.vectors == select_plan::kSmallVectors
               ? launch_select_tiles<select_plan::kSmallVectors>(chooser, call.stream, cut.tiles, from,
                                                                 results, call.workspace)
               : launch_select_tiles<select_plan::large_vectors(sizeof(In))>(chooser, call.stream, cut.tiles,
                                                                             from, results, call.workspace);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::select_rungs
