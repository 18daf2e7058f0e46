// One pass.
//
// Idea       a tile publishes its total at once, and later what stands in front of it and the total together; it looks back
//            over the tiles in front, 32 at a time, and adds up totals until it meets one that has published both.
// Change     every element is read once and written once, in one launch; 16-byte loads, four of them in flight per thread;
//            rows, every dtype that is accumulated in 4 bytes.
// Limits     float sums differ from run to run: how far a tile looks back depends on who was there first.
// Bottleneck waiting for the prefix, which few tiles per multiprocessor hide.
// Source     Merrill and Garland (2016).
#include "rooftile/ops/scan/rungs/tile_rungs.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {
namespace {

struct ChainFinder {
  static constexpr bool kEarly = false;
  static constexpr int vectors(std::size_t) { return scan_plan::kVectors; }
  template <class Acc, class Combine, class Meanwhile>
  __device__ __forceinline__ Acc operator()(TileShared<Acc>& s, const PublishedValues<Acc>& tiles,
                                            const scan_plan::TileTree&, std::int64_t row_tiles,
                                            std::int64_t tile, const Acc& total, const Acc& identity,
                                            Combine combine, Meanwhile) const {
    return found_by_first_warp(
        s, [&] { return prefix_in_chain(tiles, row_tiles, tile, total, identity, combine); });
  }
};

}  // namespace

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_scans(call.args, [&]<class Scan>(const Scan& scan) -> Status {
    if constexpr (sizeof(typename Scan::Acc) > 4) {
      return internal_error("decoupled_lookback: an accumulator of more than 4 bytes");
    } else {
      return launch_tiles<ChainFinder>(scan, call);
    }
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
