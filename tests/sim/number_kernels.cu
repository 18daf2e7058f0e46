#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/sim/kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

// The inputs come from memory so that nothing is folded at compile time.
__global__ void numbers_kernel(const float* g_in, Numbers* g_out) {
  const float one = g_in[0];
  const float two_and_a_half = g_in[1];
  const float nan = g_in[2];
  const float huge = g_in[3];
  const unsigned bits = __float_as_uint(two_and_a_half);  // 0x40200000
  Numbers n;
  n.popc = static_cast<unsigned>(__popc(bits));
  n.ffs = static_cast<unsigned>(__ffs(static_cast<int>(bits)));
  n.clz = static_cast<unsigned>(__clz(static_cast<int>(bits)));
  n.brev = __brev(bits);
  n.byte_perm = __byte_perm(0x33221100u, bits | 0x77665544u, 0x3174u);
  n.funnel_l = __funnelshift_l(0x80000001u, bits, 4);
  n.funnel_r = __funnelshift_r(0x80000001u, bits, 36);
  n.umulhi = __umulhi(bits, bits);
  n.mul24 = __mul24(static_cast<int>(bits) | 0xfffffe, -3);
  n.mulhi = __mulhi(-static_cast<int>(bits), 1 << 20);
  n.dp4a = __dp4a(static_cast<int>(bits) | 0x01ff, static_cast<int>(0x02030405), 7);
  n.popcll = __popcll(static_cast<unsigned long long>(bits) << 8);
  n.clzll = __clzll(static_cast<long long>(bits));
  n.ffsll = __ffsll(static_cast<long long>(bits) << 20);
  n.float_as_int = __float_as_int(-one);
  n.to_int_rn = __float2int_rn(two_and_a_half);
  n.to_int_rz = __float2int_rz(-two_and_a_half);
  n.to_int_ru = __float2int_ru(two_and_a_half);
  n.to_int_rd = __float2int_rd(-two_and_a_half);
  n.to_int_saturated = __float2int_rn(huge);
  n.to_int_nan = __float2int_rn(nan);
  n.rsqrt = rsqrtf(two_and_a_half);
  n.fma = __fmaf_rn(two_and_a_half, two_and_a_half, one);
  n.min_nan = min(nan, one);
  n.from_bits = __uint_as_float(bits + 1u);
  n.min_mixed = min(static_cast<int>(bits), 5u);
  const __half h = __float2half(two_and_a_half);
  n.half_sum = __half_as_ushort(h + __float2half(one));
  // 1 + 2^-10 squared, less 1: a product rounded on its own would lose the 2^-20.
  const __half just_above_one = __ushort_as_half(0x3c01);
  n.half_fma = __half_as_ushort(__hfma(just_above_one, just_above_one, __float2half(-one)));
  n.half_from_float = __half_as_ushort(__float2half_rn(g_in[4]));
  n.half_neg = __half_as_ushort(__hneg(h));
  n.bf16_product =
      __bfloat16_as_ushort(__hmul(__float2bfloat16(two_and_a_half), __float2bfloat16(one + 1.0f)));
  n.bf16_from_float = __bfloat16_as_ushort(__float2bfloat16_rn(g_in[5]));
  n.bf16_max = __bfloat16_as_ushort(__hmax(__float2bfloat16(one), __float2bfloat16(nan)));
  const float2 wide = __half22float2(
      __hfma2(__float2half2_rn(one), __floats2half2_rn(one, two_and_a_half), __float2half2_rn(one)));
  n.half2_low = wide.x;
  n.half2_high = wide.y;
  n.loaded = __ldg(g_in + 1) + __ldcs(g_in) + __expf(g_in[6]) + __fdividef(one, two_and_a_half);
  *g_out = n;
}

}  // namespace

Status run_numbers(StreamRef stream, const float* g_in, Numbers* g_out) {
  return launch(numbers_kernel, {.stream = stream}, g_in, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
