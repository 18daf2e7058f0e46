#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_copy/access_copy.h"

namespace rooftile::ROOFTILE_TARGET::access_copy_rungs {

Status ROOFTILE_RUNG(const Call<AccessCopyArgs>& call) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  const std::int64_t n = call.args.y.numel();
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[call.args.offset + i * call.args.stride];
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_copy_rungs
