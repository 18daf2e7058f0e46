// CPU rung threaded: cores have rows, or parts of a row, of which each keeps the best in a heap.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "rooftile/core/integers.h"
#include "rooftile/ops/topk/topk_cpu.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {
namespace {

template <class Body>
void for_all(std::int64_t count, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, 1), [&](const auto& range) {
    for (std::int64_t i = range.begin(); i < range.end(); ++i) body(i);
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TopkArgs>& call) {
  const topk_plan::Rows rows = topk_plan::rows_of(call.args);
  const std::int64_t k = call.args.k;
  const std::int64_t parts = call.config<topk_plan::Parts>().parts;
  return dispatch_rows(call.args, [&](const auto* in, auto* values, std::int64_t* indices) {
    using T = std::remove_cvref_t<decltype(*in)>;
    auto* lists = static_cast<std::int64_t*>(call.workspace.data);
    const std::int64_t part = ceil_div(rows.length, parts);
    if (parts > 1) {
      for_all(rows.count * parts, [&](std::int64_t task) {
        const std::int64_t first = task % parts * part;
        const std::int64_t count = smaller(part, rows.length - first);
        keep_best(
            Before<T>{in + task / parts * rows.length, call.args.largest}, k, count,
            [&](std::int64_t i) { return first + i; }, lists + task * k);
      });
    }
    for_all(rows.count, [&](std::int64_t r) {
      const Before<T> before{in + r * rows.length, call.args.largest};
      std::int64_t* best = indices + r * k;
      if (parts > 1) {
        keep_best(
            before, k, parts * k, [&](std::int64_t i) { return lists[r * parts * k + i]; }, best);
      } else {
        keep_best(
            before, k, rows.length, [](std::int64_t i) { return i; }, best);
      }
      std::sort_heap(best, best + k, before);
      for (std::int64_t j = 0; j < k; ++j) values[r * k + j] = in[r * rows.length + best[j]];
    });
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
