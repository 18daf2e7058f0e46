// The kernels of the arithmetic's tests: one thread per element; pointers are memory of the stream's device.
#pragma once

#include <cstdint>

#include "tests/sim/kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {

enum class Operation { add, subtract, multiply, divide, reciprocal, square_root, multiply_add };
// In the order of the results.
inline constexpr int kRoundings = 4;  // to nearest, towards zero, up, down

// g_out[4 * i + rounding] of the operands g_in[3 * i ...].
template <class T>
Status run_rounded(StreamRef stream, Operation operation, unsigned n, const T* g_in, T* g_out);

// The same of conversions: to float, and of 64-bit integers to double.
template <class From, class To>
Status run_rounded_conversion(StreamRef stream, unsigned n, const From* g_in, To* g_out);
// To half and to bfloat16: bits.
Status run_rounded_to_16(StreamRef stream, bool to_bfloat16, unsigned n, const float* g_in,
                         std::uint16_t* g_out);

// One thread: every function of a pair of words, in the order of the kernel.
inline constexpr int kPackedResults = 82;
Status run_packed(StreamRef stream, const unsigned* g_words, unsigned* g_out);

struct Integers {
  int hadd, rhadd, dp2a_lo, dp2a_hi, half_to_int_rz, half_to_int_ru;
  unsigned uhadd, urhadd, dp2a_hi_unsigned, smaller, larger;
  unsigned found[5];
  long long ll_smaller, ll_larger;
  unsigned long long ull_smaller, ull_larger;
  float half_sum;
};
Status run_integers(StreamRef stream, const int* g_in, Integers* g_out);

struct Specials {
  float norm3, rnorm3, norm4, rhypot, sine_pi, cosine_pi, sine, cosine, erfcx_small, erfcx_large;
  float quantile, quantile_tail, erf_inverse, erfc_inverse;
  double sine_double, cosine_double, norm3_double, quantile_double, erfc_inverse_double;
};
Status run_specials(StreamRef stream, const float* g_in, Specials* g_out);

// 8-bit floats: `saturate` as in __nv_saturation_t.
Status run_fp8_encode(StreamRef stream, bool e5m2, bool saturate, unsigned n, const float* g_in,
                      std::uint8_t* g_out);
// To half, and through the type to float.
Status run_fp8_decode(StreamRef stream, bool e5m2, std::uint16_t* g_half, float* g_float);
struct Fp8Shapes {
  unsigned pair, quad, from_half, from_double, from_bfloat16, from_int, pair_of_halves;
  float quad_back[4];
  int to_int;
  unsigned char to_uchar;
  bool is_true;
};
Status run_fp8_shapes(StreamRef stream, const float* g_in, Fp8Shapes* g_out);

// Unions and braces of vectors, copies and fills of bytes.
struct alignas(16) Vectors {
  float from_union[4], to_union[4], braces_one[4], braces_three[4], braces_none[4], braces_all[2];
  int int2_one[2];
};
Status run_vectors(StreamRef stream, const float* g_in, Vectors* g_out);
// memcpy or memset of n bytes within g_bytes; memset's value is 0x100 + from.
enum class Bytes { copy, fill };
Status run_bytes(StreamRef stream, Bytes kind, unsigned to, unsigned from, unsigned n,
                 unsigned char* g_bytes);

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
