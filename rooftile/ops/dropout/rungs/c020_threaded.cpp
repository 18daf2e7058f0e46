// CPU rung threaded: every core has ranges of groups.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "rooftile/ops/dropout/dropout_cpu.h"

namespace rooftile::ROOFTILE_TARGET::dropout_rungs {
namespace {

constexpr std::int64_t kGrain = 1024;  // groups that are worth a task

}  // namespace

Status ROOFTILE_RUNG(const Call<DropoutArgs>& call) {
  return run_groups(call, [](std::int64_t count, const auto& body) {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, kGrain), [&](const auto& range) {
      for (std::int64_t group = range.begin(); group < range.end(); ++group) body(group);
    });
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dropout_rungs
