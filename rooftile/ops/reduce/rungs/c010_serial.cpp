// CPU rung serial: one loop, one accumulator.
#include <algorithm>

#include "rooftile/ops/reduce/reduce_cpu.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return reduce_outputs<Precision::at_least_double>(
      call.args, [](const auto& reduction, const auto& x, std::int64_t count) {
        Elements<float>::Buffer buffer;
        auto acc = reduction.identity();
        for (std::int64_t first = 0; first < count; first += Elements<float>::kChunk) {
          const std::int64_t n = std::min(count - first, Elements<float>::kChunk);
          acc = reduce_serial(reduction, acc, x.chunk(first, n, buffer), first, n);
        }
        return acc;
      });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
