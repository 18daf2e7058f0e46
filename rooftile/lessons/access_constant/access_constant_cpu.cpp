#include <cmath>
#include <cstdint>

#include "rooftile/lessons/access_constant/access_constant_table.h"
#include "rooftile/lessons/access_constant/rungs.h"

namespace rooftile::cpu::access_constant_rungs {

Status serial(StreamRef, const DeviceProperties&, const AccessConstantArgs& args, const Workspace&) {
  const auto* x = static_cast<const float*>(args.x.data);
  auto* y = static_cast<float*>(args.y.data);
  constexpr ConstantTable kTable = make_constant_table();
  const std::int64_t n = args.x.numel();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t first = args.index == ConstantIndex::uniform ? i / 32 : i;
    float acc = 0.0f;
    for (int r = 0; r < kTableSize; ++r) acc = std::fma(acc, x[i], kTable.values[(first + r) % kTableSize]);
    y[i] = acc;
  }
  return {};
}

}  // namespace rooftile::cpu::access_constant_rungs
