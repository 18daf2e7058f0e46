#include <cmath>
#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_object/access_object.h"

namespace rooftile::ROOFTILE_TARGET::access_object_rungs {

Status ROOFTILE_RUNG(const Call<AccessObjectArgs>& call) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  const std::int64_t n = call.args.x.numel();
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::fma(call.args.a, x[i], call.args.b);
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_object_rungs
