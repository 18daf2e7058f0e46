// CPU rung serial: element by element, each through the whole chain: the definition.
#include "rooftile/ops/elementwise/elementwise_cpu.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {

Status ROOFTILE_RUNG(const Call<ElementwiseArgs>& call) {
  const Plan& plan = call.config<Plan>();
  const Program program = elementwise_program::program_of(call.args);
  for (std::int64_t row = 0; row < plan.layout.rows; ++row) {
    for (std::int64_t column = 0; column < plan.layout.columns; ++column)
      run_stretch(plan, program, stretch_at(call.args, plan, row, column, 1));
  }
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
