// CPU rung threaded: every core has rows.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "rooftile/ops/softmax_backward/softmax_backward_cpu.h"

namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs {

Status ROOFTILE_RUNG(const Call<SoftmaxBackwardArgs>& call) {
  return run_rows(call, [](std::int64_t count, const auto& body) {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, 1), [&](const auto& range) {
      for (std::int64_t r = range.begin(); r < range.end(); ++r) body(r);
    });
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs
