// One pass, in a fixed order.
//
// Idea       tiles are the leaves of a tree of 32 branches: whoever completes a node publishes its total. A tile adds up
//            the nodes in front of it, up to 31 on each level, always the same ones.
// Change     what a tile looks at does not depend on who was there first: float sums have the same bits in every run. No
//            chain from tile to tile: three levels for 32768 tiles. Every dtype.
// Limits     none.
// Bottleneck a round trip to memory for each level, which few tiles per multiprocessor hide.
// Source     the tree is that of a sum by fixed blocks; the publishing is Merrill and Garland's.
#include "rooftile/ops/scan/rungs/tile_rungs.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_scans(call.args,
                        [&]<class Scan>(const Scan& scan) { return launch_tiles<TreeFinder>(scan, call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
