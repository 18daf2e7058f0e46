// What the CPU rungs share: scans as host types, and from arguments to them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/scan/scan.h"
#include "rooftile/ops/scan/scan_plan.h"

namespace rooftile::cpu::scan_rungs {

using Types = DTypes<double, float, Float16, BFloat16, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                     std::int64_t, std::uint64_t>;

// Integers wrap: signed ones are added as unsigned ones. Floats accumulate in double, f64 in long double: a chain of
// millions of additions.
template <class T>
using AccOf = std::conditional_t<std::is_integral_v<T>, T,
                                 std::conditional_t<std::is_same_v<T, double>, long double, double>>;

template <class T>
AccOf<T> widened(T x) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return static_cast<double>(to_float(x));
  } else {
    return x;
  }
}
template <class T>
T narrowed(AccOf<T> x) {
  if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(x);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(x);
  } else {
    return static_cast<T>(x);
  }
}

template <ScanOp kOp, class T>
struct Scan {
  using Acc = AccOf<T>;
  static Acc combine(Acc a, Acc b) {
    if constexpr (kOp == ScanOp::sum) {
      if constexpr (std::is_integral_v<Acc>) {
        using Unsigned = std::make_unsigned_t<Acc>;
        return static_cast<Acc>(static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
      } else {
        return a + b;
      }
    } else {
      if constexpr (std::is_floating_point_v<Acc>) {
        if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
      }
      return kOp == ScanOp::min ? std::min(a, b) : std::max(a, b);
    }
  }
  static Acc initial(const ScanArgs& args) {
    if (args.initial) return static_cast<Acc>(*args.initial);
    if constexpr (kOp == ScanOp::sum) return Acc{0};
    constexpr bool kSmallest = kOp == ScanOp::min;
    if constexpr (std::is_floating_point_v<Acc>) {
      return kSmallest ? std::numeric_limits<Acc>::infinity() : -std::numeric_limits<Acc>::infinity();
    } else {
      return kSmallest ? std::numeric_limits<Acc>::max() : std::numeric_limits<Acc>::lowest();
    }
  }
  // Scans `count` elements behind `sum`; returns what they and it combine to.
  static Acc run(const T* in, T* out, std::int64_t count, bool exclusive, Acc sum) {
    for (std::int64_t i = 0; i < count; ++i) {
      const Acc next = combine(sum, widened(in[i]));
      out[i] = narrowed<T>(exclusive ? sum : next);
      sum = next;
    }
    return sum;
  }
};

// Calls body.operator()<Scan, T>().
template <class Body>
Status dispatch_scans(const ScanArgs& args, Body&& body) {
  return dispatch(Types{}, args.in.dtype, [&]<class T>() -> Status {
    switch (args.op) {
      case ScanOp::sum:
        return body.template operator()<Scan<ScanOp::sum, T>, T>();
      case ScanOp::min:
        return body.template operator()<Scan<ScanOp::min, T>, T>();
      case ScanOp::max:
        break;
    }
    return body.template operator()<Scan<ScanOp::max, T>, T>();
  });
}

}  // namespace rooftile::cpu::scan_rungs
