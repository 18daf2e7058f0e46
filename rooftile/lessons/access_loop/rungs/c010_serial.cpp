#include <cmath>
#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_loop/access_loop.h"

namespace rooftile::ROOFTILE_TARGET::access_loop_rungs {

Status ROOFTILE_RUNG(const Call<AccessLoopArgs>& call) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  const std::int64_t n = call.args.x.numel();
  for (std::int64_t i = 0; i < n; ++i) {
    float v = x[i];
    for (std::int64_t step = 0; step < i % 32; ++step) v = (v + 1.0f) / (2.0f + std::fabs(v));
    y[i] = v;
  }
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_loop_rungs
