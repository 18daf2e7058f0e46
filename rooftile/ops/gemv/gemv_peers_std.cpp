// std::transform_reduce of the C++ library, row by row, as a peer of gemv on the CPU: one thread.
#include <functional>
#include <numeric>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/gemv/gemv.h"
#include "rooftile/ops/gemv/gemv_plan.h"

namespace rooftile {
namespace {

std::string_view supports(const GemvArgs& args, const DeviceProperties&) {
  const gemv_plan::Geometry g = gemv_plan::geometry(args);
  if (args.a.dtype != DType::f32) return "asked for f32 only";
  if (g.transposed || g.x_step != 1 || g.y_step != 1 || g.batches != 1)
    return "asked for rows and vectors without gaps only";
  return args.alpha == 1 && args.beta == 0 ? "" : "asked for the product alone";
}

// In double: a serial chain in f32 would not be right.
Status gemv_by_std(const Call<GemvArgs>& call) {
  const gemv_plan::Geometry g = gemv_plan::geometry(call.args);
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* y = static_cast<float*>(call.args.y.data);
  for (std::int64_t i = 0; i < g.rows; ++i) {
    const auto* row = static_cast<const float*>(call.args.a.data) + i * g.pitch;
    const double sum = std::transform_reduce(row, row + g.columns, x, 0.0, std::plus<>(),
                                             [](double a, double b) { return a * b; });
    y[i] = static_cast<float>(sum);
  }
  return {};
}

}  // namespace

void register_gemv_peers_std(Registry& registry) {
  PeerRow row =
      describe_peer<GemvArgs>("gemv", "std", "std::transform_reduce, one thread", gemv_by_std, supports);
  row.device = DeviceKind::cpu;
  registry.add(std::move(row));
}

}  // namespace rooftile
