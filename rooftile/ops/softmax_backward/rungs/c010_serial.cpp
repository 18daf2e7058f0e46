// CPU rung serial: the definition, in double.
#include "rooftile/ops/softmax_backward/softmax_backward_cpu.h"

namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs {

Status ROOFTILE_RUNG(const Call<SoftmaxBackwardArgs>& call) {
  return run_rows(call, [](std::int64_t count, const auto& body) {
    for (std::int64_t r = 0; r < count; ++r) body(r);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs
