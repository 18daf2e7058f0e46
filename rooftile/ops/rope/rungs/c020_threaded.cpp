// CPU rung threaded: every core has tokens.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "rooftile/ops/rope/rope_cpu.h"

namespace rooftile::ROOFTILE_TARGET::rope_rungs {

Status ROOFTILE_RUNG(const Call<RopeArgs>& call) {
  return run_tokens(call, [](std::int64_t count, const auto& body) {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, 1), [&](const auto& range) {
      for (std::int64_t token = range.begin(); token < range.end(); ++token) body(token);
    });
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::rope_rungs
