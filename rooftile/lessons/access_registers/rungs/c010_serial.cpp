#include <cmath>
#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_registers/access_registers.h"

namespace rooftile::ROOFTILE_TARGET::access_registers_rungs {

Status ROOFTILE_RUNG(const Call<AccessRegistersArgs>& call) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  const std::int64_t n = call.args.x.shape[1];
  for (std::int64_t j = 0; j < n; ++j) {
    float largest = x[j];
    for (std::int64_t k = 1; k < 64; ++k) largest = std::fmax(largest, x[k * n + j]);
    for (std::int64_t k = 0; k < 64; ++k) y[k * n + j] = x[k * n + j] - largest;
  }
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_registers_rungs
