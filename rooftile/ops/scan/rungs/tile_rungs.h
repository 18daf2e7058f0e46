// What the rungs share that cut rows into tiles.
#pragma once

#include "rooftile/ops/scan/rungs/scan_device.h"
#include "rooftile/ops/scan/scan_tiles.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

// A call by tiles whose prefixes Finder finds.
template <class Finder, class Scan>
Status launch_tiles(const Scan& scan, const Call<ScanArgs>& call) {
  const Initial<typename Scan::Acc> initial{scan.initial(call.args), true};
  return launch_scan_tiles<Finder>(scan, call.stream, call.config<scan_plan::Cut>(),
                                   static_cast<const typename Scan::In*>(call.args.in.data),
                                   static_cast<typename Scan::Out*>(call.args.out.data), call.args.exclusive,
                                   initial, call.workspace);
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
