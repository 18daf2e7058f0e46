// std::inclusive_scan and std::exclusive_scan of the C++ library as a peer of scan on the CPU: one thread.
#include <cstdint>
#include <functional>
#include <numeric>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/scan/scan.h"
#include "rooftile/ops/scan/scan_plan.h"

namespace rooftile {
namespace {

// f32 in double: a serial chain in f32 would not be right.
Status scan_by_std(const Call<ScanArgs>& call) {
  return dispatch(DTypes<float, std::uint32_t>{}, call.args.in.dtype, [&]<class T>() -> Status {
    using Sum = std::conditional_t<std::is_integral_v<T>, std::uint32_t, double>;
    const auto* in = static_cast<const T*>(call.args.in.data);
    const auto* end = in + call.args.in.numel();
    auto* out = static_cast<T*>(call.args.out.data);
    if (call.args.exclusive) {
      std::exclusive_scan(in, end, out, Sum{}, std::plus<Sum>());
    } else {
      std::inclusive_scan(in, end, out, std::plus<Sum>(), Sum{});
    }
    return {};
  });
}

std::string_view supports(const ScanArgs& args, const DeviceProperties&) {
  if (args.in.dtype != DType::f32 && args.in.dtype != DType::u32) return "asked for f32 and u32 only";
  if (args.op != ScanOp::sum || args.initial) return "asked for sums without an initial value only";
  return scan_plan::rows_of(args).count <= 1 ? "" : "asked for a single row only";
}

}  // namespace

void register_scan_peers_std(Registry& registry) {
  PeerRow row =
      describe_peer<ScanArgs>("scan", "std", "std::inclusive_scan, one thread", scan_by_std, supports);
  row.device = DeviceKind::cpu;
  registry.add(std::move(row));
}

}  // namespace rooftile
