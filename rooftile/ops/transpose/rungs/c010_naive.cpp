// CPU rung naive: two loops.
#include "rooftile/ops/transpose/transpose_cpu.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  return transpose_plan::dispatch_item(g.item_bytes, [&]<int kItemBytes>() -> Status {
    for (std::int64_t index = 0; index < g.batch.count; ++index) {
      transpose_tile<kItemBytes>(g, matrix_at(call.args, g, index));
    }
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
