// What the elements of select are chosen by, as types (select_tiles.h says what such a type is), and from arguments to them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/flip.h"
#include "rooftile/device/types.h"
#include "rooftile/ops/select/select.h"
#include "rooftile/ops/select/select_plan.h"
#include "rooftile/ops/select/select_tiles.h"

namespace rooftile::ROOFTILE_TARGET::select_rungs {

// Elements are moved, not looked at: unsigned integers of their size.
template <class T>
struct ByFlags {
  using In = T;
  static constexpr int kElements = kVecElements<In>;
  const std::uint8_t* g_flags;

  __device__ __forceinline__ bool chosen(const Elements<In>&, std::int64_t i, In) const {
    return g_flags[i] != 0;
  }
  __device__ __forceinline__ unsigned mask(const Elements<In>&, std::int64_t i,
                                           const Vec<In, kElements>&) const {
    const std::uint8_t* g_mine = g_flags + i;
    unsigned mask = 0;
    if (reinterpret_cast<std::uintptr_t>(g_mine) % kElements == 0) {  // as of every vector
      const auto flags = load_vec<LoadPolicy::cached, kElements>(g_mine);
#pragma unroll
      for (int j = 0; j < kElements; ++j) mask |= static_cast<unsigned>(flags[j] != 0) << j;
    } else {
#pragma unroll
      for (int j = 0; j < kElements; ++j) mask |= static_cast<unsigned>(g_mine[j] != 0) << j;
    }
    return mask;
  }
};

// Above a threshold. Integers as keys (select_plan.h), floats of 16 bits as f32.
template <class T>
struct Above {
  using In = T;
  using Key = std::conditional_t<std::is_integral_v<T>, T,
                                 std::conditional_t<std::is_same_v<T, double>, double, float>>;
  Key limit;
  T flip{};         // of integers
  bool any = true;  // of integers: there is one above it

  __device__ __forceinline__ bool chosen(const Elements<In>&, std::int64_t, In x) const {
    if constexpr (std::is_integral_v<T>) {
      return any && static_cast<T>(x ^ flip) >= limit;
    } else {
      return static_cast<Key>(x) > limit;
    }
  }

  [[nodiscard]] static Above of(const SelectArgs& args) {
    if constexpr (std::is_integral_v<T>) {
      const select_plan::KeyLimit limit = select_plan::limit_of_integers(args.in.dtype, args.threshold);
      constexpr T kSign = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
      return {static_cast<T>(limit.least), is_signed(args.in.dtype) ? kSign : T{0}, limit.any};
    } else if constexpr (std::is_same_v<T, double>) {
      return {args.threshold};
    } else {
      return {select_plan::limit_of_floats(args.threshold)};
    }
  }
};

// Unlike the element in front.
template <class T>
struct Unlike {
  using In = T;
  static constexpr int kElements = kVecElements<In>;

  __device__ __forceinline__ bool chosen(const Elements<In>& from, std::int64_t i, In x) const {
    return i == 0 || differ(x, from.g_in[i - 1]);
  }
  __device__ __forceinline__ unsigned mask(const Elements<In>& from, std::int64_t i,
                                           const Vec<In, kElements>& x) const {
    In previous = shuffle_up(x[kElements - 1], 1);
    if (lane_index() == 0 && i > 0) previous = from.g_in[i - 1];
    unsigned mask = static_cast<unsigned>(i == 0 || differ(x[0], previous));
#pragma unroll
    for (int j = 1; j < kElements; ++j) mask |= static_cast<unsigned>(differ(x[j], x[j - 1])) << j;
    return mask;
  }

 private:
  __device__ __forceinline__ static bool differ(In a, In b) {
    if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
      return a != b;
    } else {
      return static_cast<float>(a) != static_cast<float>(b);
    }
  }
};

// The unsigned integer of an element's size.
inline DType bits_of(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}

// Calls body(chooser) for elements of these types; Bits: what is moved by flags.
template <class Bits, class Keys, class Body>
Status dispatch_choosers(const SelectArgs& args, Body&& body) {
  if (select_plan::by_flags(args)) {
    return dispatch(Bits{}, bits_of(args.in.dtype), [&]<class T>() -> Status {
      return body(ByFlags<T>{static_cast<const std::uint8_t*>(args.flags.data)});
    });
  }
  return dispatch(Keys{}, unsigned_of(args.in.dtype), [&]<class T>() -> Status {
    return args.op == SelectOp::unique ? body(Unlike<T>{}) : body(Above<T>::of(args));
  });
}

// Every dtype. The checked build: one of each kind.
template <class Body>
Status dispatch_all(const SelectArgs& args, Body&& body) {
  using Bits = CompiledDTypes<DTypes<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                              DTypes<std::uint32_t>>;
  using Keys =
      CompiledDTypes<DTypes<double, float, __half, __nv_bfloat16, std::uint8_t, std::uint32_t, std::uint64_t>,
                     DTypes<float, std::uint8_t, std::uint32_t>>;
  return dispatch_choosers<Bits, Keys>(args, body);
}

// What the lesson rungs are compiled for: elements of 4 bytes.
template <class Body>
Status dispatch_lesson(const SelectArgs& args, Body&& body) {
  return dispatch_choosers<DTypes<std::uint32_t>, DTypes<float, std::uint32_t>>(args, body);
}

template <class In>
Elements<In> elements_of(const SelectArgs& args) {
  return {static_cast<const In*>(args.in.data), args.in.numel()};
}
template <class In>
Results<In> results_of(const SelectArgs& args) {
  return {static_cast<In*>(args.out.data), static_cast<std::int64_t*>(args.count.data),
          args.op == SelectOp::partition};
}

}  // namespace rooftile::ROOFTILE_TARGET::select_rungs
