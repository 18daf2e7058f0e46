#include <cmath>
#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {

Status ROOFTILE_RUNG(const Call<AccessPrefetchArgs>& call) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  const std::int64_t n = call.args.x.numel();
  for (std::int64_t i = 0; i < n; ++i) {
    float v = x[i];
    for (int step = 0; step < 8; ++step) v = std::fma(v, 0.5f, 0.25f);
    y[i] = v;
  }
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
