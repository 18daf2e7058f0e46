// std::copy_if and std::unique_copy of the C++ library as a peer of select on the CPU: one thread.
#include <algorithm>
#include <cstdint>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/select/select.h"

namespace rooftile {
namespace {

Status select_by_std(const Call<SelectArgs>& call) {
  return dispatch(DTypes<float, std::int32_t>{}, call.args.in.dtype, [&]<class T>() -> Status {
    const auto* in = static_cast<const T*>(call.args.in.data);
    const auto* end = in + call.args.in.numel();
    auto* out = static_cast<T*>(call.args.out.data);
    const double threshold = call.args.threshold;
    const T* last =
        call.args.op == SelectOp::unique
            ? std::unique_copy(in, end, out)
            : std::copy_if(in, end, out, [threshold](T x) { return static_cast<double>(x) > threshold; });
    *static_cast<std::int64_t*>(call.args.count.data) = last - out;
    return {};
  });
}

std::string_view supports(const SelectArgs& args, const DeviceProperties&) {
  if (args.in.dtype != DType::f32 && args.in.dtype != DType::i32) return "asked for f32 and i32 only";
  return args.op == SelectOp::greater_than || args.op == SelectOp::unique
             ? ""
             : "asked for greater_than and unique only";
}

}  // namespace

void register_select_peers_std(Registry& registry) {
  PeerRow row = describe_peer<SelectArgs>("select", "std", "std::copy_if and std::unique_copy, one thread",
                                          select_by_std, supports);
  row.device = DeviceKind::cpu;
  registry.add(std::move(row));
}

}  // namespace rooftile
