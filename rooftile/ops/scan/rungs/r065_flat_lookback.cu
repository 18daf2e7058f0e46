// One round trip.
//
// Idea       every tile reads the totals of all tiles in front of it in its row, by all its warps at once.
// Change     no levels: a tile waits for the totals in front of it, and for nothing that somebody made of them.
// Limits     none, but totals are read as often as there are tiles behind them: for a few hundred tiles.
// Bottleneck latency: launch, load, publish, read, store.
// Source     Merrill and Garland's published totals, without prefixes.
#include "rooftile/ops/scan/rungs/tile_rungs.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_scans(call.args,
                        [&]<class Scan>(const Scan& scan) { return launch_tiles<FlatFinder>(scan, call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
