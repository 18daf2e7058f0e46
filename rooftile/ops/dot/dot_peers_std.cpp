// std::transform_reduce of the C++ library as a peer of dot on the CPU: one thread.
#include <functional>
#include <numeric>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/dot/dot.h"
#include "rooftile/ops/dot/dot_plan.h"

namespace rooftile {
namespace {

// In double: a serial chain in f32 would not be right (nor is one of f64 in f64).
Status dot_by_std(const Call<DotArgs>& call) {
  const auto* a = static_cast<const float*>(call.args.a.data);
  const auto* b = static_cast<const float*>(call.args.b.data);
  const double sum = std::transform_reduce(a, a + call.args.a.numel(), b, 0.0, std::plus<>(),
                                           [](double x, double y) { return x * y; });
  store_from_double(call.args.out.data, call.args.out.dtype, sum);
  return {};
}

std::string_view supports(const DotArgs& args, const DeviceProperties&) {
  if (args.a.dtype != DType::f32) return "asked for f32 only";
  return dot_plan::has_gaps(args) ? "asked for vectors without gaps only" : "";
}

}  // namespace

void register_dot_peers_std(Registry& registry) {
  PeerRow row =
      describe_peer<DotArgs>("dot", "std", "std::transform_reduce, one thread", dot_by_std, supports);
  row.device = DeviceKind::cpu;
  registry.add(std::move(row));
}

}  // namespace rooftile
