// CPU rung serial: one loop, one accumulator.
#include "rooftile/ops/reduce/reduce_cpu.h"

namespace rooftile::cpu::reduce_rungs {

Status serial(StreamRef, const DeviceProperties&, const ReduceArgs& args, const Workspace&) {
  return reduce_outputs<Precision::wider>(args, [](const auto& reduction, const auto& x, std::int64_t count) {
    return reduce_serial(reduction, x, 0, count);
  });
}

}  // namespace rooftile::cpu::reduce_rungs
