#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_tile/access_tile.h"

namespace rooftile::ROOFTILE_TARGET::access_tile_rungs {

Status ROOFTILE_RUNG(const Call<AccessTileArgs>& call) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  const std::int64_t n = call.args.x.numel();
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_tile_rungs
