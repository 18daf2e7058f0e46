// CPU rung serial: the definition.
#include "rooftile/ops/dropout/dropout_cpu.h"

namespace rooftile::ROOFTILE_TARGET::dropout_rungs {

Status ROOFTILE_RUNG(const Call<DropoutArgs>& call) {
  return run_groups(call, [](std::int64_t count, const auto& body) {
    for (std::int64_t group = 0; group < count; ++group) body(group);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dropout_rungs
