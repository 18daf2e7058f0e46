#include <cmath>
#include <cstdint>

#include "rooftile/lessons/access_branch/rungs.h"

namespace rooftile::cpu::access_branch_rungs {

Status serial(StreamRef, const DeviceProperties&, const AccessBranchArgs& args, const Workspace&) {
  const auto* x = static_cast<const float*>(args.x.data);
  auto* y = static_cast<float*>(args.y.data);
  const std::int64_t n = args.x.numel();
  for (std::int64_t i = 0; i < n; ++i) {
    float v = x[i];
    if (i % 2 == 0) {
      for (int step = 0; step < 32; ++step) v = std::fma(v, 0.5f, 0.25f);
    } else {
      for (int step = 0; step < 32; ++step) v = (v + 1.0f) / (2.0f + std::fabs(v));
    }
    y[i] = v;
  }
  return {};
}

}  // namespace rooftile::cpu::access_branch_rungs
