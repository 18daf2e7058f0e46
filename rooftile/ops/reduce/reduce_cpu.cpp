#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "rooftile/ops/reduce/rungs.h"

namespace rooftile::cpu::reduce_rungs {
namespace {

// Sums accumulate in double on the host: it costs nothing there, and the result is the correctly rounded one in
// all but contrived cases.
template <ReduceOp kOp, class In>
struct HostReduction;

template <>
struct HostReduction<ReduceOp::sum, float> {
  using Acc = double;
  using Out = float;
  static constexpr Acc kIdentity = 0.0;
  static Acc combine(Acc a, Acc b) { return a + b; }
};
template <>
struct HostReduction<ReduceOp::sum, std::int32_t> {
  using Acc = std::int64_t;
  using Out = std::int64_t;
  static constexpr Acc kIdentity = 0;
  static Acc combine(Acc a, Acc b) { return a + b; }
};
template <>
struct HostReduction<ReduceOp::max, float> {
  using Acc = float;
  using Out = float;
  static constexpr Acc kIdentity = -std::numeric_limits<float>::infinity();
  static Acc combine(Acc a, Acc b) { return a > b || a != a ? a : b; }  // NaN wins from either side
};
template <>
struct HostReduction<ReduceOp::max, std::int32_t> {
  using Acc = std::int32_t;
  using Out = std::int32_t;
  static constexpr Acc kIdentity = std::numeric_limits<std::int32_t>::min();
  static Acc combine(Acc a, Acc b) { return a > b ? a : b; }
};

template <class Reduction, class In>
typename Reduction::Acc reduce_serial(const In* in, std::int64_t n) {
  auto acc = Reduction::kIdentity;
  for (std::int64_t i = 0; i < n; ++i) acc = Reduction::combine(acc, static_cast<typename Reduction::Acc>(in[i]));
  return acc;
}

template <class Reduction, class In>
typename Reduction::Acc reduce_lanes(const In* in, std::int64_t n) {
  using Acc = typename Reduction::Acc;
  constexpr int kLanes = 16;  // independent chains: enough to cover an addition's latency at SIMD width
  std::array<Acc, kLanes> acc;
  acc.fill(Reduction::kIdentity);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      auto& a = acc[static_cast<std::size_t>(lane)];
      a = Reduction::combine(a, static_cast<Acc>(in[i + lane]));
    }
  }
  Acc total = reduce_serial<Reduction>(in + i, n - i);
  for (Acc a : acc) total = Reduction::combine(total, a);
  return total;
}

template <class Reduction, class In>
typename Reduction::Acc reduce_threaded(const In* in, std::int64_t n) {
  using Acc = typename Reduction::Acc;
  constexpr std::int64_t kGrain = 32 * 1024;
  // The deterministic variant splits by the range alone, so that the order of additions does not depend on threads.
  return tbb::parallel_deterministic_reduce(
      tbb::blocked_range<std::int64_t>(0, n, kGrain), Reduction::kIdentity,
      [in](const tbb::blocked_range<std::int64_t>& range, Acc acc) {
        return Reduction::combine(acc, reduce_lanes<Reduction>(in + range.begin(), range.end() - range.begin()));
      },
      [](Acc a, Acc b) { return Reduction::combine(a, b); }, tbb::simple_partitioner());
}

// Calls body.operator()<Reduction, In>() for the arguments' op and dtype.
template <class Body>
Status dispatch(const ReduceArgs& args, Body body) {
  if (args.in.dtype == DType::f32) {
    if (args.op == ReduceOp::sum) return body.template operator()<HostReduction<ReduceOp::sum, float>, float>();
    return body.template operator()<HostReduction<ReduceOp::max, float>, float>();
  }
  if (args.op == ReduceOp::sum) {
    return body.template operator()<HostReduction<ReduceOp::sum, std::int32_t>, std::int32_t>();
  }
  return body.template operator()<HostReduction<ReduceOp::max, std::int32_t>, std::int32_t>();
}

}  // namespace

Status serial(StreamRef, const DeviceProperties&, const ReduceArgs& args, const Workspace&) {
  return dispatch(args, [&]<class Reduction, class In>() -> Status {
    *static_cast<typename Reduction::Out*>(args.out.data) = static_cast<typename Reduction::Out>(
        reduce_serial<Reduction>(static_cast<const In*>(args.in.data), args.in.numel()));
    return {};
  });
}

Status threaded(StreamRef, const DeviceProperties&, const ReduceArgs& args, const Workspace&) {
  return dispatch(args, [&]<class Reduction, class In>() -> Status {
    *static_cast<typename Reduction::Out*>(args.out.data) = static_cast<typename Reduction::Out>(
        reduce_threaded<Reduction>(static_cast<const In*>(args.in.data), args.in.numel()));
    return {};
  });
}

}  // namespace rooftile::cpu::reduce_rungs
