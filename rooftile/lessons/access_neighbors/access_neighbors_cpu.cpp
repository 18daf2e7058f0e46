#include <cstdint>

#include "rooftile/lessons/access_neighbors/rungs.h"

namespace rooftile::cpu::access_neighbors_rungs {

Status serial(StreamRef, const DeviceProperties&, const AccessNeighborsArgs& args, const Workspace&) {
  const auto* x = static_cast<const float*>(args.x.data);
  auto* y = static_cast<float*>(args.y.data);
  const std::int64_t m = args.x.shape[1];
  const std::int64_t n = args.x.shape[2];
  for (std::int64_t row = 0; row < args.x.shape[0] * m; ++row) {
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

}  // namespace rooftile::cpu::access_neighbors_rungs
