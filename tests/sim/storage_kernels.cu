// 8-bit floats, vectors in unions and braces, and the functions on bytes.
#include "rooftile/device/target.h"

#include <cuda_fp8.h>

#include "rooftile/device/launch.h"
#include "tests/sim/arithmetic.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

constexpr unsigned kBlock = 128;

__global__ void encode_kernel(__nv_fp8_interpretation_t format, __nv_saturation_t saturate, unsigned n,
                              const float* g_in, std::uint8_t* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) g_out[i] = __nv_cvt_float_to_fp8(g_in[i], saturate, format);
}

__global__ void decode_kernel(bool e5m2, std::uint16_t* g_half, float* g_float) {
  const unsigned i = threadIdx.x;
  const auto code = static_cast<__nv_fp8_storage_t>(i);
  g_half[i] = __nv_cvt_fp8_to_halfraw(code, e5m2 ? __NV_E5M2 : __NV_E4M3).x;
  if (e5m2) {
    __nv_fp8_e5m2 value;
    value.__x = code;
    g_float[i] = static_cast<float>(value);
  } else {
    __nv_fp8_e4m3 value;
    value.__x = code;
    g_float[i] = static_cast<float>(value);
  }
}

__global__ void shapes_kernel(const float* g_in, Fp8Shapes* g_out) {
  const float one = g_in[0];
  const float large = g_in[1];
  Fp8Shapes n;
  n.pair = __nv_fp8x2_e4m3(make_float2(one, -2 * one)).__x;
  const __nv_fp8x4_e5m2 quad(make_float4(one, 2 * one, -3 * one, large));
  n.quad = quad.__x;
  const auto back = static_cast<float4>(quad);
  n.quad_back[0] = back.x;
  n.quad_back[1] = back.y;
  n.quad_back[2] = back.z;
  n.quad_back[3] = back.w;
  n.from_half = __nv_fp8_e4m3(__float2half(large)).__x;
  n.from_double = __nv_fp8_e5m2(1e300 * one).__x;
  n.from_bfloat16 = __nv_cvt_bfloat16raw_to_fp8(__float2bfloat16(large), __NV_NOSAT, __NV_E4M3);
  n.from_int = __nv_fp8_e4m3(static_cast<int>(17 * one)).__x;
  n.pair_of_halves = __nv_cvt_halfraw2_to_fp8x2(__floats2half2_rn(-one, 4 * one), __NV_SATFINITE, __NV_E5M2);
  n.to_int = static_cast<int>(__nv_fp8_e4m3(-3.75f * one));
  n.to_uchar = static_cast<unsigned char>(__nv_fp8_e4m3(-3.75f * one));
  n.is_true = static_cast<bool>(__nv_fp8_e4m3(-0.0f * one));
  *g_out = n;
}

__global__ void vectors_kernel(const float* g_in, Vectors* g_out) {
  const auto* g_vectors = reinterpret_cast<const float4*>(g_in);
  union {
    float4 v;
    float f[4];
  } u;
  u.v = g_vectors[0];
  for (int i = 0; i < 4; ++i) g_out->from_union[i] = u.f[3 - i];
  for (int i = 0; i < 4; ++i) u.f[i] = g_in[i] * 2;
  *reinterpret_cast<float4*>(g_out->to_union) = u.v;
  const float4 one = {1};
  const float4 three = {g_in[1], g_in[2], g_in[3]};
  const float4 none{};
  const float2 all = {g_in[1], g_in[2]};
  const int2 first = {7};
  float4 partial;
  partial.x = one.x;
  const float4 kept = partial;
  g_out->braces_one[0] = kept.x;
  g_out->braces_one[1] = one.y;
  g_out->braces_one[2] = one.z;
  g_out->braces_one[3] = one.w;
  *reinterpret_cast<float4*>(g_out->braces_three) = three;
  *reinterpret_cast<float4*>(g_out->braces_none) = none;
  *reinterpret_cast<float2*>(g_out->braces_all) = all;
  g_out->int2_one[0] = first.x;
  g_out->int2_one[1] = first.y;
}

// Sizes that are known, and any.
__global__ void bytes_kernel(Bytes kind, unsigned to, unsigned from, unsigned n, unsigned char* g_bytes) {
  switch (kind) {
    case Bytes::copy:
      if (n == 4) {
        memcpy(g_bytes + to, g_bytes + from, 4);
      } else if (n == 16) {
        memcpy(g_bytes + to, g_bytes + from, 16);
      } else {
        memcpy(g_bytes + to, g_bytes + from, n);
      }
      break;
    case Bytes::fill:
      memset(g_bytes + to, static_cast<int>(0x100 + from), n);
      break;
  }
}

}  // namespace

Status run_fp8_encode(StreamRef stream, bool e5m2, bool saturate, unsigned n, const float* g_in,
                      std::uint8_t* g_out) {
  return launch(encode_kernel,
                {.grid = dim3((n + kBlock - 1) / kBlock), .block = dim3(kBlock), .stream = stream},
                e5m2 ? __NV_E5M2 : __NV_E4M3, saturate ? __NV_SATFINITE : __NV_NOSAT, n, g_in, g_out);
}
Status run_fp8_decode(StreamRef stream, bool e5m2, std::uint16_t* g_half, float* g_float) {
  return launch(decode_kernel, {.block = dim3(256), .stream = stream}, e5m2, g_half, g_float);
}
Status run_fp8_shapes(StreamRef stream, const float* g_in, Fp8Shapes* g_out) {
  return launch(shapes_kernel, {.stream = stream}, g_in, g_out);
}
Status run_vectors(StreamRef stream, const float* g_in, Vectors* g_out) {
  return launch(vectors_kernel, {.stream = stream}, g_in, g_out);
}
Status run_bytes(StreamRef stream, Bytes kind, unsigned to, unsigned from, unsigned n,
                 unsigned char* g_bytes) {
  return launch(bytes_kernel, {.stream = stream}, kind, to, from, n, g_bytes);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
