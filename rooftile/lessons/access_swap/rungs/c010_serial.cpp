#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_swap/access_swap.h"

namespace rooftile::ROOFTILE_TARGET::access_swap_rungs {

Status ROOFTILE_RUNG(const Call<AccessSwapArgs>& call) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  const std::int64_t n = call.args.x.numel();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t other = i ^ 16;
    const float v = other < n ? x[other] : 0.0f;
    y[i] = i % 32 < 16 ? v + 1.0f : 2.0f * v;
  }
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_swap_rungs
