// What reduce's peers on the CPU share: sums and maxima of all elements of f32, f64 and i32, in a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "rooftile/core/describe.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_plan.h"

namespace rooftile::reduce_peers {

// Sums of f32 are accumulated in double: a serial chain of 2^24 in f32 would not be right.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

// Of elements, too, which std::reduce adds to each other before it adds them to the sum. Integers modulo 2^64.
template <class Value>
struct Add {
  Value operator()(Value a, Value b) const {
    if constexpr (std::is_integral_v<Value>)
      return static_cast<Value>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};

template <class T>
struct LargerOrNan {
  T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};

inline std::string_view supports(const ReduceArgs& args, const DeviceProperties&) {
  const DType in = args.in.dtype;
  if (in != DType::f32 && in != DType::f64 && in != DType::i32) return "asked for f32, f64 and i32 only";
  if (args.op != ReduceOp::sum && args.op != ReduceOp::max) return "asked for sums and maxima only";
  if (args.out.dtype == DType::f16 || args.out.dtype == DType::bf16)
    return "asked for outputs of 32 and 64 bits only";
  const reduce_plan::Geometry g = reduce_plan::geometry(args);
  if (g.outputs() != 1 || !args.in.contiguous()) return "asked for all elements, without gaps, only";
  return "";
}

// `fold(begin, end, init, operation)` over the elements.
template <class Fold>
Status reduce_all(const ReduceArgs& args, const Fold& fold) {
  return dispatch(DTypes<float, double, std::int32_t>{}, args.in.dtype, [&]<class T>() -> Status {
    const auto* begin = static_cast<const T*>(args.in.data);
    const T* end = begin + args.in.numel();
    if (args.op == ReduceOp::max) {
      *static_cast<T*>(args.out.data) = fold(begin + 1, end, *begin, LargerOrNan<T>{});
      return {};
    }
    const Sum<T> total = fold(begin, end, Sum<T>{0}, Add<Sum<T>>{});
    if (args.out.dtype == DType::f32)
      *static_cast<float*>(args.out.data) = static_cast<float>(total);
    else if (args.out.dtype == DType::f64)
      *static_cast<double*>(args.out.data) = static_cast<double>(total);
    else
      *static_cast<std::int64_t*>(args.out.data) = static_cast<std::int64_t>(total);
    return {};
  });
}

inline PeerRow peer(const char* id, std::string version, LaunchFunction<ReduceArgs> launch) {
  PeerRow row = describe_peer<ReduceArgs>("reduce", id, std::move(version), launch, supports);
  row.device = DeviceKind::cpu;
  return row;
}

}  // namespace rooftile::reduce_peers
