// CPU rung serial: the definition, in double.
#include "rooftile/ops/rope/rope_cpu.h"

namespace rooftile::ROOFTILE_TARGET::rope_rungs {

Status ROOFTILE_RUNG(const Call<RopeArgs>& call) {
  return run_tokens(call, [](std::int64_t count, const auto& body) {
    for (std::int64_t token = 0; token < count; ++token) body(token);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::rope_rungs
