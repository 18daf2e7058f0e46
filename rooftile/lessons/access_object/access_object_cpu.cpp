#include <cmath>
#include <cstdint>

#include "rooftile/lessons/access_object/rungs.h"

namespace rooftile::cpu::access_object_rungs {

Status serial(StreamRef, const DeviceProperties&, const AccessObjectArgs& args, const Workspace&) {
  const auto* x = static_cast<const float*>(args.x.data);
  auto* y = static_cast<float*>(args.y.data);
  const std::int64_t n = args.x.numel();
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::fma(args.a, x[i], args.b);
  return {};
}

}  // namespace rooftile::cpu::access_object_rungs
