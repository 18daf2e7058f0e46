#include <cmath>
#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_constant/access_constant.h"
#include "rooftile/lessons/access_constant/access_constant_table.h"

namespace rooftile::ROOFTILE_TARGET::access_constant_rungs {

Status ROOFTILE_RUNG(const Call<AccessConstantArgs>& call) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  constexpr ConstantTable kTable = make_constant_table();
  const std::int64_t n = call.args.x.numel();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t first = call.args.index == ConstantIndex::uniform ? i / 32 : i;
    float acc = 0.0f;
    for (int r = 0; r < kTableSize; ++r) acc = std::fma(acc, x[i], kTable.values[(first + r) % kTableSize]);
    y[i] = acc;
  }
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::access_constant_rungs
