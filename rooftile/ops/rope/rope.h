// rope: rotary position embedding: pairs of elements turned by angles that grow with the position.
//
//   angle[p][i] = position p * frequency[i],  frequency[i] = base^(-2 i / rotary), i in [0, rotary / 2)
//   (a, b) -> (a cos - b sin, b cos + a sin) for pair i of every head of q and k;   inverse: by -angle
//   pair i     half: elements i and i + rotary / 2 (Hugging Face's Llama); interleaved: elements 2 i and 2 i + 1
//
// Shapes     q, q_out: [b, s, h, d]. k, k_out: [b, s, heads of k, d]; k may be absent: then k_out is, or has no element. positions:
//            [b, s] or [s]; absent: 0 ... s - 1 in every sequence. Packed sequences are one of b = 1 with their positions.
// Rotary     how many elements of each head are turned, the first ones, an even number; 0: all of d, which is even then. The others
//            are copied.
// Layout     any strides; those of q_out and k_out give every element a place of its own: q and k may be parts of one packed tensor.
//            Fast where heads begin at multiples of 16 bytes and have no gaps.
// Dtypes     q, k, q_out, k_out alike: f32 f16 bf16. positions: i32 or i64, of any sign; angles are exact to
//            f32 up to positions of some 2^24, and lose a bit with every doubling beyond.
// Arithmetic angles in double, reduced to one turn; their sines in f32, and so are the results, rounded once.
// Scaling    none; linear: frequencies / factor; llama3: those whose wavelength is beyond original / low_frequency are divided by
//            factor, those below original / high_frequency kept, between them a mixture.
// Alignment  that of an element.
// Aliasing   q_out may be q itself, k_out k itself; nothing else may overlap an output.
// Empty      without elements there is nothing to do.
// NaN, +-inf come through in their pair: a head has no others.
// Backward   the same call with inverse, on the gradients: a rotation's transpose is the rotation back.
// Size       64-bit index arithmetic; 2^31 elements and more are served. d up to 512.
// Error      tests: rope_cases.cpp.
// Determinism  bitwise: no two elements are added but those of a pair.
// Source     Su et al., RoFormer (2021); scaling: Dubey et al., The Llama 3 Herd of Models (2024).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rooftile/core/api.h"
#include "rooftile/core/enum_names.h"

namespace rooftile {

enum class RopeForm : std::uint8_t { half, interleaved };
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<RopeForm> = {"half", "interleaved"};

enum class RopeScaling : std::uint8_t { none, linear, llama3 };
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<RopeScaling> = {"none", "linear", "llama3"};

struct RopeArgs {
  ConstTensorView q{};
  ConstTensorView k{};          // absent: none
  ConstTensorView positions{};  // absent: 0 ... s - 1
  TensorView q_out{};
  TensorView k_out{};
  RopeForm form = RopeForm::half;
  std::int64_t rotary = 0;
  double base = 10000;
  RopeScaling scaling = RopeScaling::none;
  double factor = 8;
  double low_frequency = 1;
  double high_frequency = 4;
  double original = 8192;  // positions that the frequencies were trained with
  bool inverse = false;

  friend bool operator==(const RopeArgs&, const RopeArgs&) = default;
};

// auto [q_out, k_out] = rope(context, q, {.k = k}).value();
// rope(context, {.q = q, .k = k, .positions = positions, .q_out = q, .k_out = k})
ROOFTILE_CALLS_OF_2(rope, RopeArgs, q)

}  // namespace rooftile
