// std::partial_sort_copy of the C++ library as a peer of topk on the CPU: one thread, a heap of k pairs.
#include <algorithm>
#include <cstdint>
#include <ranges>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/topk/topk.h"
#include "rooftile/ops/topk/topk_plan.h"

namespace rooftile {
namespace {

Status topk_by_std(const Call<TopkArgs>& call) {
  return dispatch(DTypes<float, std::int32_t>{}, call.args.in.dtype, [&]<class T>() -> Status {
    const topk_plan::Rows rows = topk_plan::rows_of(call.args);
    const std::int64_t k = call.args.k;
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const T* row = static_cast<const T*>(call.args.in.data) + r * rows.length;
      T* values = static_cast<T*>(call.args.values.data) + r * k;
      std::int64_t* indices = static_cast<std::int64_t*>(call.args.indices.data) + r * k;
      const auto all = std::views::iota(std::int64_t{0}, rows.length);
      std::ranges::partial_sort_copy(all, std::ranges::subrange(indices, indices + k),
                                     [&](std::int64_t i, std::int64_t j) {
                                       const bool nan = row[i] != row[i];
                                       if (nan != (row[j] != row[j])) return nan == call.args.largest;
                                       if (nan || row[i] == row[j]) return i < j;
                                       return (row[i] > row[j]) == call.args.largest;
                                     });
      for (std::int64_t j = 0; j < k; ++j) values[j] = row[indices[j]];
    }
    return {};
  });
}

std::string_view supports(const TopkArgs& args, const DeviceProperties&) {
  return args.in.dtype == DType::f32 || args.in.dtype == DType::i32 ? "" : "asked for f32 and i32 only";
}

}  // namespace

void register_topk_peers_std(Registry& registry) {
  PeerRow row = describe_peer<TopkArgs>("topk", "std", "std::partial_sort_copy of indices, one thread",
                                        topk_by_std, supports);
  row.device = DeviceKind::cpu;
  registry.add(std::move(row));
}

}  // namespace rooftile
