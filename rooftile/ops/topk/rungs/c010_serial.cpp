// CPU rung serial: of each row a list of all indices, the first k put in order.
#include <numeric>

#include "rooftile/ops/topk/topk_cpu.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {

Status ROOFTILE_RUNG(const Call<TopkArgs>& call) {
  const topk_plan::Rows rows = topk_plan::rows_of(call.args);
  const std::int64_t k = call.args.k;
  return dispatch_rows(call.args, [&](const auto* in, auto* values, std::int64_t* indices) {
    auto* list = static_cast<std::uint32_t*>(call.workspace.data);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const auto* row = in + r * rows.length;
      std::iota(list, list + rows.length, 0u);
      std::partial_sort(list, list + k, list + rows.length,
                        Before<std::remove_cvref_t<decltype(*in)>>{row, call.args.largest});
      for (std::int64_t j = 0; j < k; ++j) {
        indices[r * k + j] = list[j];
        values[r * k + j] = row[list[j]];
      }
    }
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
