// The reductions as host types, for the CPU rungs.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/core/dtype.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/reduce/reduce.h"

namespace rooftile::cpu::reduce_rungs {

template <class T>
inline constexpr bool kIsReal16 = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// An element as a number that the host computes with.
template <class T>
auto number(T x) {
  if constexpr (kIsReal16<T>) {
    return to_float(x);
  } else {
    return x;
  }
}
template <class T>
using Number = decltype(number(T{}));

// What a rung accumulates float sums in: the precision of the GPU, or double.
enum class Precision { same, at_least_double };
template <class T, Precision kPrecision>
using FloatAcc =
    std::conditional_t<kPrecision == Precision::same && !std::is_same_v<T, double>, float, double>;

template <class T, Precision kPrecision>
struct HostSum {
  using Acc = std::conditional_t<std::is_integral_v<T>,
                                 std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                                 FloatAcc<T, kPrecision>>;
  bool mean = false;

  static Acc identity() { return Acc{0}; }
  // Integers wrap, as on the GPU; a signed overflow would be undefined.
  Acc combine(Acc a, Acc b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<Acc>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
      return a + b;
    }
  }
  Acc take(Acc acc, T x, std::int64_t) const { return combine(acc, static_cast<Acc>(number(x))); }
  void store(void* out, DType dtype, Acc acc, std::int64_t count) const {
    if constexpr (std::is_integral_v<T>) {
      if (!mean) {
        *static_cast<Acc*>(out) = acc;
        return;
      }
    }
    const double value = static_cast<double>(acc);
    store_from_double(out, dtype, mean ? value / static_cast<double>(count) : value);
  }
};

template <class T, bool kMax>
struct HostExtreme {
  using Acc = Number<T>;
  static Acc identity() {
    if constexpr (std::is_floating_point_v<Acc>) {
      return kMax ? -std::numeric_limits<Acc>::infinity() : std::numeric_limits<Acc>::infinity();
    } else {
      return kMax ? std::numeric_limits<Acc>::lowest() : std::numeric_limits<Acc>::max();
    }
  }
  // NaN wins from either side.
  Acc combine(Acc a, Acc b) const {
    const bool first = kMax ? a > b : a < b;
    if constexpr (std::is_floating_point_v<Acc>) return first || a != a ? a : b;
    return first ? a : b;
  }
  Acc take(Acc acc, T x, std::int64_t) const { return combine(acc, number(x)); }
  void store(void* out, DType dtype, Acc acc, std::int64_t) const {
    if constexpr (std::is_integral_v<T>) {
      *static_cast<T*>(out) = acc;
    } else {
      store_from_double(out, dtype, static_cast<double>(acc));
    }
  }
};

template <class T>
struct HostArg {
  struct Acc {
    Number<T> key;
    std::int64_t index;  // negative: nothing yet
  };
  bool largest = true;

  static Acc identity() { return {Number<T>{}, -1}; }
  Acc combine(Acc a, Acc b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const bool a_nan = a.key != a.key;
    const bool b_nan = b.key != b.key;
    if (a_nan || b_nan) return a_nan && (!b_nan || a.index < b.index) ? a : b;
    if (a.key == b.key) return a.index < b.index ? a : b;
    return (a.key > b.key) == largest ? a : b;
  }
  Acc take(Acc acc, T x, std::int64_t index) const { return combine(acc, {number(x), index}); }
  void store(void* out, DType, Acc acc, std::int64_t) const { *static_cast<std::int64_t*>(out) = acc.index; }
};

// Calls body(reduction) for the arguments' op.
template <class T, Precision kPrecision, class Body>
Status dispatch_op(const ReduceArgs& args, Body&& body) {
  switch (args.op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
      return body(HostSum<T, kPrecision>{.mean = args.op == ReduceOp::mean});
    case ReduceOp::min:
      return body(HostExtreme<T, false>{});
    case ReduceOp::max:
      return body(HostExtreme<T, true>{});
    case ReduceOp::argmin:
    case ReduceOp::argmax:
      return body(HostArg<T>{.largest = args.op == ReduceOp::argmax});
  }
  return internal_error("an unknown ReduceOp");
}

// Calls body.operator()<T>(reduction) for the arguments' op and dtype.
template <Precision kPrecision, class Body>
Status dispatch(const ReduceArgs& args, Body body) {
  using All = DTypes<double, float, Float16, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                     std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
  return rooftile::dispatch(All{}, args.in.dtype, [&]<class T>() -> Status {
    return dispatch_op<T, kPrecision>(
        args, [&](const auto& reduction) -> Status { return body.template operator()<T>(reduction); });
  });
}

}  // namespace rooftile::cpu::reduce_rungs
