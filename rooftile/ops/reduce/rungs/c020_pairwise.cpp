// CPU rung pairwise: a tree of halves in the precision of the GPU.
#include "rooftile/ops/reduce/reduce_cpu.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

template <class Reduction, class Elements>
auto reduce_pairwise(const Reduction& reduction, const Elements& x, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kLeaf = 64;
  if (last - first <= kLeaf) return reduce_serial(reduction, x, first, last);
  const std::int64_t middle = first + (last - first) / 2;
  return reduction.combine(reduce_pairwise(reduction, x, first, middle),
                           reduce_pairwise(reduction, x, middle, last));
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return reduce_outputs<Precision::same>(call.args,
                                         [](const auto& reduction, const auto& x, std::int64_t count) {
                                           return reduce_pairwise(reduction, x, 0, count);
                                         });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
