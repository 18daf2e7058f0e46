// gemm: the product of two matrices, out = activation(alpha op(a) op(b) + beta c + bias).
//
// Shapes     op(a): [m,k], op(b): [k,n], c and out: [m,n], bias: [n]. Each of a, b, c may have a batch in front, [b,m,k]; one
//            without is the same for all of the batch. op(x) is x, or with transpose_x x of swapped last axes.
// Dtypes     a and b alike, f64 f32 f16 bf16; c, bias and out alike: theirs, or f32 where theirs has 16 bits.
// Layout     any strides: rows or columns without gaps between their elements (row- and column-major, any leading dimension) are
//            served fast, others by rungs with computed addresses. A leading dimension that is smaller than a row is refused, but
//            for stride 0: a row that repeats.
// Accumulation  in f64 of f64, else in f32: of f64 and f32 by fused multiply-adds, of f16 and bf16 by tensor cores, whose products are exact;
//            alpha, beta, bias and activation in the same, once, and then one rounding to out's dtype.
// Alignment  that of an element; of 16 bytes, and leading dimensions too, is faster.
// Aliasing   out may be c. out must not overlap a, b, bias, nor a part of c.
// Empty      k = 0: the sum is 0, so that out = activation(beta c + bias). m, n or b = 0: nothing.
// beta, c    beta = 0: c is not read (NaN in it does not show). c absent: as beta = 0.
// NaN        as IEEE 754 has them: 0 * NaN is NaN. alpha = 0: a and b are not read.
// Size       64-bit index arithmetic; matrices of 2^31 elements and more are served.
// Error      of a sum that of k fused multiply-adds one after the other, or of a few chains of them that are added; tensor cores cut off
//            in place of rounding, once in 8 or 16 products. gelu_tanh_approx of 16 bits: what is added up may be rounded to them before, tanh off by 2^-11.
// Determinism  run-to-run, on the same kind of device.
// Source     BLAS level 3: Dongarra, Du Croz, Hammarling and Duff (1990).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rooftile/core/api.h"
#include "rooftile/core/enum_names.h"

namespace rooftile {

// What is done to each element at last. gelu by erf or by tanh, silu: x sigmoid(x). gelu_tanh_approx: by the special function unit's own
// tanh where out has 16 bits and that is faster, as cuBLASLt's epilogue does it.
enum class GemmActivation : std::uint8_t { none, relu, gelu_erf, gelu_tanh, gelu_tanh_approx, silu, sigmoid };
template <>
inline constexpr std::array<std::string_view, 7> kEnumNames<GemmActivation> = {
    "none", "relu", "gelu_erf", "gelu_tanh", "gelu_tanh_approx", "silu", "sigmoid"};

struct GemmArgs {
  ConstTensorView a{};
  ConstTensorView b{};
  ConstTensorView c{};     // optional
  ConstTensorView bias{};  // optional
  TensorView out{};
  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1;
  double beta = 1;
  GemmActivation activation = GemmActivation::none;
  std::optional<DType> out_dtype = std::nullopt;  // of a result that the call makes

  friend bool operator==(const GemmArgs&, const GemmArgs&) = default;
};

ROOFTILE_CALLS(gemm, GemmArgs, a, b)

}  // namespace rooftile
