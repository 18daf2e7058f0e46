#include <cstdint>

#include "rooftile/lessons/access_copy/rungs.h"

namespace rooftile::cpu::access_copy_rungs {

Status serial(StreamRef, const DeviceProperties&, const AccessCopyArgs& args, const Workspace&) {
  const auto* x = static_cast<const float*>(args.x.data);
  auto* y = static_cast<float*>(args.y.data);
  const std::int64_t n = args.y.numel();
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[args.offset + i * args.stride];
  return {};
}

}  // namespace rooftile::cpu::access_copy_rungs
