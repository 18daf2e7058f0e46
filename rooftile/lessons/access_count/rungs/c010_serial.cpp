#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_count/access_count.h"

namespace rooftile::ROOFTILE_TARGET::access_count_rungs {

Status ROOFTILE_RUNG(const Call<AccessCountArgs>& call) {
  const auto* x = static_cast<const std::int32_t*>(call.args.x.data);
  auto* y = static_cast<std::int32_t*>(call.args.y.data);
  const std::int64_t n = call.args.x.numel();
  std::uint32_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += static_cast<std::uint32_t>(x[i]);
  *y = static_cast<std::int32_t>(total);
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_count_rungs
