// CPU rung naive: two loops.
#include "rooftile/ops/transpose/transpose_cpu.h"

namespace rooftile::cpu::transpose_rungs {

Status naive(StreamRef, const DeviceProperties&, const TransposeArgs& args, const Workspace&) {
  const Geometry g = transpose_plan::geometry(args);
  return transpose_plan::dispatch_item(g.item_bytes, [&]<int kItemBytes>() -> Status {
    for (std::int64_t index = 0; index < g.batch.count; ++index) {
      transpose_tile<kItemBytes>(g, matrix_at(args, g, index));
    }
    return {};
  });
}

}  // namespace rooftile::cpu::transpose_rungs
