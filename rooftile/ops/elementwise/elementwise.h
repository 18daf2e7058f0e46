// elementwise: functions of one, two or three tensors element by element, and chains of them in one pass.
//
// Shapes     a, b and c are broadcast as in NumPy: from the last dimension on an extent of 1, and a dimension that is
//            not there, meets any other. Any strides, 0 and negative ones with them. out: the broadcast shape, any strides
//            that give every element a place.
// Chain      op is one function or up to 8. The first argument of the first is a, that of every other the result so far;
//            further ones are b and c in the order in which the chain asks for them: {add, gelu_tanh, mul} is
//            gelu_tanh(a + b) * c. What the chain does not ask for must be left out.
// Functions  cast                        a, in out's dtype
//            neg abs relu                relu(x) is x where x is not below 0: NaN stays
//            exp log sqrt rsqrt sin tanh sigmoid
//            silu                        x sigmoid(x)
//            gelu_erf, gelu_tanh         x Phi(x), and its approximation x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
//            clamp                       to [low, high]; NaN stays
//            add sub mul div min max pow
//            saxpy                       alpha x + y
//            fma                         x y + z
//            where                       y where x is not 0, else z
// Dtypes     a, b, c and out: all 14, in any mix but u64 with signed integers. out: the caller's, or out_dtype; else
//            that of a (of where: b), or f32 where a function of real numbers meets integers.
//            Computed in f64 where a tensor is f64, or where integers of 32 bits and more meet floats or such a
//            function; else in f32 where there is a float or such a function; else in 64-bit integers, modulo 2^64.
// Integers   div truncates, x / 0 is 0; results, and integers that are cast, are taken modulo 2^bits of out's dtype. A float
//            that becomes an integer is truncated and clamped to its range, NaN is 0.
// Floats     rounded to out's dtype once more, to nearest even. f16, bf16 and f8e5m2 overflow to infinity, f8e4m3 to NaN.
// Alignment  any pointer aligned to its element.
// Aliasing   out may be a, b or c itself, with its dtype, shape and strides; otherwise it must not overlap them.
// Empty      nothing to do.
// NaN, +-0   NaN gives NaN, also of min and max; silu, gelu_erf and gelu_tanh of -infinity are -0. Of zeros min and max
//            return either.
// Size       64-bit index arithmetic.
// Error      neg abs relu clamp add sub mul div sqrt fma saxpy min max where cast are rounded as IEEE 754 has them; the
//            others are off by at most some units in the last place of what is computed in (elementwise_ref.cpp).
// Determinism  run-to-run: every element depends on its own arguments alone.
// Source     the definitions; gelu: Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016).
//
// A function of one's own: elementwise_functor.h.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "rooftile/core/api.h"
#include "rooftile/core/enum_list.h"
#include "rooftile/core/enum_names.h"

namespace rooftile {

enum class ElementwiseOp {
  cast,
  neg,
  abs,
  relu,
  exp,
  log,
  sqrt,
  rsqrt,
  sin,
  tanh,
  sigmoid,
  silu,
  gelu_erf,
  gelu_tanh,
  clamp,
  add,
  sub,
  mul,
  div,
  min,
  max,
  pow,
  saxpy,
  fma,
  where,
};
template <>
inline constexpr std::array<std::string_view, 25> kEnumNames<ElementwiseOp> = {
    "cast", "neg",     "abs",  "relu",     "exp",       "log",   "sqrt", "rsqrt", "sin",
    "tanh", "sigmoid", "silu", "gelu_erf", "gelu_tanh", "clamp", "add",  "sub",   "mul",
    "div",  "min",     "max",  "pow",      "saxpy",     "fma",   "where"};

using ElementwiseChain = EnumList<ElementwiseOp, 8>;

struct ElementwiseArgs {
  ConstTensorView a{};
  ConstTensorView b{};
  ConstTensorView c{};
  TensorView out{};
  ElementwiseChain op = ElementwiseOp::cast;
  double alpha = 1.0;  // of saxpy
  double low = 0.0;    // of clamp
  double high = 1.0;
  std::optional<DType> out_dtype = std::nullopt;

  friend bool operator==(const ElementwiseArgs&, const ElementwiseArgs&) = default;
};

// elementwise(ctx, a, {.b = view(bias), .op = {ElementwiseOp::add, ElementwiseOp::gelu_tanh}}): b and c are set among the
// options.
ROOFTILE_CALLS(elementwise, ElementwiseArgs, a)

// How many arguments a function has: 1 to 3.
[[nodiscard]] constexpr int elementwise_arguments(ElementwiseOp op) {
  if (op == ElementwiseOp::fma || op == ElementwiseOp::where) return 3;
  return op >= ElementwiseOp::add ? 2 : 1;
}

}  // namespace rooftile
