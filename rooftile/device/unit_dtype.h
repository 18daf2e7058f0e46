// What a rung is compiled for where each of its dtypes is a translation unit (rNNN_name.units beside the rung).
#pragma once

#include "rooftile/core/dtype.h"
#include "rooftile/core/element.h"
#include "rooftile/device/dispatch.h"

namespace rooftile {
namespace unit_dtype_detail {

template <DType kDType, class... Ts>
struct Only;
template <DType kDType, class First, class... Rest>
struct Only<kDType, First, Rest...> : Only<kDType, Rest...> {};
template <DType kDType, class First, class... Rest>
requires(dtype_of<First> == kDType) struct Only<kDType, First, Rest...> {
  using Type = DTypes<First>;
};

template <DType kDType, int kUnits, class All>
struct OneOf;
template <DType kDType, int kUnits, class... Ts>
struct OneOf<kDType, kUnits, DTypes<Ts...>> : Only<kDType, Ts...> {
  static_assert(sizeof...(Ts) == kUnits, "the rung's .units names other dtypes than it dispatches to");
};

}  // namespace unit_dtype_detail

// DTypes of the one of All's types whose dtype is kDType; All has as many types as the rung has units.
template <DType kDType, int kUnits, class All>
using UnitDType = typename unit_dtype_detail::OneOf<kDType, kUnits, All>::Type;

}  // namespace rooftile
