// dropout: every element is left out with probability p, or kept and scaled; with a bias before and a residual behind.
//
//   v = x + bias;   y = residual + (kept ? v * scale : 0)
//   training   kept with probability 1 - p, scale 1 / (1 - p) if upscale, else 1. p = 0: all are kept; p = 1: none is.
//   inference  all are kept, scale 1 if upscale, else 1 - p.
//
// Which are kept  element i (row-major) by word i % 4 of Philox4x32-10 of counter (i / 4, stream) and key seed: kept where it is not below
//            p * 2^32, rounded. Nothing else matters: not the launch, the device, the dtype, nor what is around the tensor.
// stream     offset, plus what counter holds, if there is one: [1] of i64 on the device, which the call raises by one when it is done, so
//            that a graph that is replayed has other elements every time. replay: the stream of the call before, and counter stays.
// Backward   the same call on dy, with the same seed and stream (replay, with a counter), without bias and residual: nothing need be
//            kept. Or with the mask as `kept`.
// Shapes     x, residual, y: alike. bias: [n], one for each column of the last axis. mask, and kept: bytes: x's shape, 1 or 0; bits: [ceil(numel
//            / 8)], element i in bit i % 8 of byte i / 8, the last bits 0.
// Layout     x, residual, y: any strides, 0 in x and residual, too; those of y give every element a place of its own. The axes in front of
//            the last lie at two strides at most once neighbours that allow it are one. All others: without gaps. Fast where nothing has
//            gaps, or rows are whole vectors at multiples of 16 bytes.
// Dtypes     x, bias, residual, y alike: f32 f16 bf16. mask, kept: u8. counter: i64.
// Arithmetic in f32; one rounding to y's dtype at the end.
// Alignment  that of an element. Fast where x, residual and y begin at multiples of 16 bytes.
// Aliasing   y may be x itself. Nothing else may overlap an output or counter.
// Empty      without elements there is nothing to do, and counter stays.
// NaN, +-inf where an element is left out it does not matter what it was.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Determinism  bitwise.
// Source     Srivastava et al., Dropout (2014); Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rooftile/core/api.h"
#include "rooftile/core/enum_names.h"

namespace rooftile {

enum class MaskForm : std::uint8_t { none, bytes, bits };
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<MaskForm> = {"none", "bytes", "bits"};

struct DropoutArgs {
  ConstTensorView x{};
  ConstTensorView bias{};      // absent: none
  ConstTensorView residual{};  // absent: none
  ConstTensorView kept{};      // absent: by Philox
  TensorView counter{};        // absent: none
  TensorView y{};
  TensorView mask{};  // of the form that `form` says
  double p = 0.5;
  bool training = true;
  bool upscale = true;
  MaskForm form = MaskForm::none;  // of mask, or of kept
  std::int64_t seed = 0;
  std::int64_t offset = 0;
  bool replay = false;

  friend bool operator==(const DropoutArgs&, const DropoutArgs&) = default;
};

// auto [y, mask] = dropout(context, x, {.p = 0.1, .form = MaskForm::bits, .seed = 7}).value();
// dropout(context, {.x = dy, .y = dx, .p = 0.1, .seed = 7})
ROOFTILE_CALLS_OF_2(dropout, DropoutArgs, x)

}  // namespace rooftile
