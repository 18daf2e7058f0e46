#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"

namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs {

Status ROOFTILE_RUNG(const Call<AccessNeighborsArgs>& call) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  const std::int64_t m = call.args.x.shape[1];
  const std::int64_t n = call.args.x.shape[2];
  for (std::int64_t row = 0; row < call.args.x.shape[0] * m; ++row) {
    const std::int64_t first_row = row - row % m % 4;  // of the warp
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t lane = 0; lane < 32; ++lane, ++y) {
        const std::int64_t from = first_row + lane / 8;
        const std::int64_t column = j / 8 * 8 + lane % 8;
        const bool inside = from < row - row % m + m && column < n;
        *y = inside ? x[from * n + column] : 0.0f;
      }
    }
  }
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs
