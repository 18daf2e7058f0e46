// What the CPU rungs share: conditions as host types, and from arguments to them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/select/select.h"
#include "rooftile/ops/select/select_plan.h"

namespace rooftile::cpu::select_rungs {

using Types = DTypes<double, float, Float16, BFloat16, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                     std::int64_t, std::uint64_t>;

// 16-bit floats as f32, all else as it is.
template <class T>
auto compared(T x) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return to_float(x);
  } else {
    return x;
  }
}

// Whether element i is chosen.
template <class T>
struct ByFlags {
  const std::uint8_t* flags;
  explicit ByFlags(const SelectArgs& args) : flags(static_cast<const std::uint8_t*>(args.flags.data)) {}
  bool operator()(const T*, std::int64_t i) const { return flags[i] != 0; }
};
template <class T>
struct Unlike {
  explicit Unlike(const SelectArgs&) {}
  bool operator()(const T* in, std::int64_t i) const {
    return i == 0 || compared(in[i]) != compared(in[i - 1]);
  }
};
template <class T>
struct Above {
  explicit Above(const SelectArgs& args)
      : threshold(args.threshold), limit(select_plan::limit_of_integers(args.in.dtype, args.threshold)) {}
  bool operator()(const T* in, std::int64_t i) const {
    if constexpr (std::is_integral_v<T>) {
      using Key = std::make_unsigned_t<T>;
      constexpr Key kSign = std::is_signed_v<T> ? static_cast<Key>(Key{1} << (8 * sizeof(T) - 1)) : Key{0};
      return limit.any && static_cast<Key>(static_cast<Key>(in[i]) ^ kSign) >= static_cast<Key>(limit.least);
    } else {
      return static_cast<double>(compared(in[i])) > threshold;
    }
  }
  double threshold;
  select_plan::KeyLimit limit;
};

// Calls body(condition, in, out).
template <class Body>
Status dispatch_conditions(const SelectArgs& args, Body&& body) {
  return dispatch(Types{}, args.in.dtype, [&]<class T>() -> Status {
    const auto* in = static_cast<const T*>(args.in.data);
    auto* out = static_cast<T*>(args.out.data);
    if (select_plan::by_flags(args)) return body(ByFlags<T>(args), in, out);
    return args.op == SelectOp::unique ? body(Unlike<T>(args), in, out) : body(Above<T>(args), in, out);
  });
}

// Writes what is chosen of elements [first, last) behind `chosen` chosen ones in front, and gives how many there are then.
template <class Condition, class T>
std::int64_t write(const SelectArgs& args, const Condition& condition, const T* in, T* out,
                   std::int64_t first, std::int64_t last, std::int64_t chosen) {
  const std::int64_t n = args.in.numel();
  const bool keeps_others = args.op == SelectOp::partition;
  for (std::int64_t i = first; i < last; ++i) {
    if (condition(in, i)) {
      out[chosen++] = in[i];
    } else if (keeps_others) {
      out[n - 1 - (i - chosen)] = in[i];
    }
  }
  return chosen;
}

}  // namespace rooftile::cpu::select_rungs
