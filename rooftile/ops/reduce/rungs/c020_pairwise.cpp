// CPU rung pairwise: a tree of halves in the precision of the GPU.
#include "rooftile/ops/reduce/reduce_cpu.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

template <class Reduction>
auto reduce_pairwise(const Reduction& reduction, const Elements<float>& x, std::int64_t first,
                     std::int64_t count) -> typename Reduction::Acc {
  constexpr std::int64_t kLeaf = 64;
  if (count <= kLeaf) {
    Elements<float>::Buffer buffer;
    return reduce_serial(reduction, reduction.identity(), x.chunk(first, count, buffer), first, count);
  }
  const std::int64_t half = count / 2;
  return reduction.combine(reduce_pairwise(reduction, x, first, half),
                           reduce_pairwise(reduction, x, first + half, count - half));
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return reduce_outputs<Precision::same>(call.args,
                                         [](const auto& reduction, const auto& x, std::int64_t count) {
                                           return reduce_pairwise(reduction, x, 0, count);
                                         });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
