// CPU rung serial: one loop.
#include "rooftile/ops/select/select_cpu.h"

namespace rooftile::ROOFTILE_TARGET::select_rungs {

Status ROOFTILE_RUNG(const Call<SelectArgs>& call) {
  return dispatch_conditions(call.args, [&](const auto& condition, const auto* in, auto* out) -> Status {
    *static_cast<std::int64_t*>(call.args.count.data) =
        write(call.args, condition, in, out, 0, call.args.in.numel(), 0);
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::select_rungs
