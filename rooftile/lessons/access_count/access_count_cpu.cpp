#include <cstdint>

#include "rooftile/lessons/access_count/rungs.h"

namespace rooftile::cpu::access_count_rungs {

Status serial(StreamRef, const DeviceProperties&, const AccessCountArgs& args, const Workspace&) {
  const auto* x = static_cast<const std::int32_t*>(args.x.data);
  auto* y = static_cast<std::int32_t*>(args.y.data);
  const std::int64_t n = args.x.numel();
  std::uint32_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += static_cast<std::uint32_t>(x[i]);
  *y = static_cast<std::int32_t>(total);
  return {};
}

}  // namespace rooftile::cpu::access_count_rungs
