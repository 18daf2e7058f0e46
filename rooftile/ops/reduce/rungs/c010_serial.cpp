// CPU rung serial: one loop, one accumulator.
#include "rooftile/ops/reduce/reduce_cpu.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return reduce_outputs<Precision::wider>(call.args,
                                          [](const auto& reduction, const auto& x, std::int64_t count) {
                                            return reduce_serial(reduction, x, 0, count);
                                          });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
