// std::transform of the C++ library as a peer of elementwise on the CPU: one thread, sums and products.
#include <algorithm>
#include <functional>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/elementwise/elementwise.h"

namespace rooftile {
namespace {

Status transform_by_std(const Call<ElementwiseArgs>& call) {
  return dispatch(DTypes<float, double>{}, call.args.out.dtype, [&]<class T>() -> Status {
    const auto* a = static_cast<const T*>(call.args.a.data);
    const auto* b = static_cast<const T*>(call.args.b.data);
    auto* out = static_cast<T*>(call.args.out.data);
    if (call.args.op[0] == ElementwiseOp::add) {
      std::transform(a, a + call.args.out.numel(), b, out, std::plus<>());
    } else {
      std::transform(a, a + call.args.out.numel(), b, out, std::multiplies<>());
    }
    return {};
  });
}

std::string_view supports(const ElementwiseArgs& args, const DeviceProperties&) {
  if (args.op.size() != 1 || (args.op[0] != ElementwiseOp::add && args.op[0] != ElementwiseOp::mul))
    return "asked for add and mul only";
  const DType dtype = args.out.dtype;
  if ((dtype != DType::f32 && dtype != DType::f64) || args.a.dtype != dtype || args.b.dtype != dtype)
    return "asked for f32 and f64 only";
  const auto plain = [&](const ConstTensorView& view) {
    return view.contiguous() && view.shape == args.out.shape;
  };
  return plain(args.a) && plain(args.b) && plain(args.out)
             ? ""
             : "asked for tensors without gaps, of one shape, only";
}

}  // namespace

void register_elementwise_peers_std(Registry& registry) {
  PeerRow row = describe_peer<ElementwiseArgs>("elementwise", "std", "std::transform, one thread",
                                               transform_by_std, supports);
  row.device = DeviceKind::cpu;
  registry.add(std::move(row));
}

}  // namespace rooftile
