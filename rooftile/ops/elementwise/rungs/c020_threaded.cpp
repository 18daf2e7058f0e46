// CPU rung threaded: stretches of a thousand elements for all cores; each function is a loop over a stretch, which stays
// in the first cache and which the compiler vectorises where the function is arithmetic.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "rooftile/ops/elementwise/elementwise_cpu.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {
namespace {

constexpr std::int64_t kTaskElements = 1 << 14;  // what is worth a task

}  // namespace

Status ROOFTILE_RUNG(const Call<ElementwiseArgs>& call) {
  const Plan& plan = call.config<Plan>();
  const Program program = elementwise_program::program_of(call.args);
  const std::int64_t columns = plan.layout.columns;
  const std::int64_t per_row = (columns + kStretch - 1) / kStretch;
  const std::int64_t grain = std::max<std::int64_t>(1, kTaskElements / std::min(columns, kStretch));
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, plan.layout.rows * per_row, grain), [&](const auto& range) {
        for (std::int64_t i = range.begin(); i < range.end(); ++i) {
          const std::int64_t column = i % per_row * kStretch;
          run_stretch(plan, program,
                      stretch_at(call.args, plan, i / per_row, column, std::min(kStretch, columns - column)));
        }
      });
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
