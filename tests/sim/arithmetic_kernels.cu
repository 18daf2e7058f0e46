#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/sim/arithmetic.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

constexpr unsigned kBlock = 128;

dim3 blocks_for(unsigned n) { return dim3((n + kBlock - 1) / kBlock); }

// __fadd_rn ... as a function object: overloads by mode and type.
#define FUNCTIONS(T, prefix, fused, mode)                         \
  __device__ T apply_##mode(Operation operation, T a, T b, T c) { \
    switch (operation) {                                          \
      case Operation::add:                                        \
        return __##prefix##add_##mode(a, b);                      \
      case Operation::subtract:                                   \
        return __##prefix##sub_##mode(a, b);                      \
      case Operation::multiply:                                   \
        return __##prefix##mul_##mode(a, b);                      \
      case Operation::divide:                                     \
        return __##prefix##div_##mode(a, b);                      \
      case Operation::reciprocal:                                 \
        return __##prefix##rcp_##mode(a);                         \
      case Operation::square_root:                                \
        return __##prefix##sqrt_##mode(a);                        \
      case Operation::multiply_add:                               \
        return __##fused##_##mode(a, b, c);                       \
    }                                                             \
    return a;                                                     \
  }
FUNCTIONS(float, f, fmaf, rn)
FUNCTIONS(float, f, fmaf, rz)
FUNCTIONS(float, f, fmaf, ru)
FUNCTIONS(float, f, fmaf, rd)
FUNCTIONS(double, d, fma, rn)
FUNCTIONS(double, d, fma, rz)
FUNCTIONS(double, d, fma, ru)
FUNCTIONS(double, d, fma, rd)
#undef FUNCTIONS

template <class T>
__global__ void rounded_kernel(Operation operation, unsigned n, const T* g_in, T* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T a = g_in[3 * i];
  const T b = g_in[3 * i + 1];
  const T c = g_in[3 * i + 2];
  g_out[4 * i] = apply_rn(operation, a, b, c);
  g_out[4 * i + 1] = apply_rz(operation, a, b, c);
  g_out[4 * i + 2] = apply_ru(operation, a, b, c);
  g_out[4 * i + 3] = apply_rd(operation, a, b, c);
}

#define CONVERSIONS(From, from, To, to)          \
  __device__ void convert(From a, To* results) { \
    results[0] = __##from##2##to##_rn(a);        \
    results[1] = __##from##2##to##_rz(a);        \
    results[2] = __##from##2##to##_ru(a);        \
    results[3] = __##from##2##to##_rd(a);        \
  }
CONVERSIONS(double, double, float, float)
CONVERSIONS(int, int, float, float)
CONVERSIONS(unsigned, uint, float, float)
CONVERSIONS(long long, ll, float, float)
CONVERSIONS(unsigned long long, ull, float, float)
CONVERSIONS(long long, ll, double, double)
CONVERSIONS(unsigned long long, ull, double, double)
#undef CONVERSIONS

template <class From, class To>
__global__ void conversion_kernel(unsigned n, const From* g_in, To* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) convert(g_in[i], g_out + 4 * i);
}

__global__ void to_16_kernel(bool to_bfloat16, unsigned n, const float* g_in, std::uint16_t* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = g_in[i];
  std::uint16_t* const out = g_out + 4 * i;
  if (to_bfloat16) {
    out[0] = __bfloat16_as_ushort(__float2bfloat16_rn(a));
    out[1] = __bfloat16_as_ushort(__float2bfloat16_rz(a));
    out[2] = __bfloat16_as_ushort(__float2bfloat16_ru(a));
    out[3] = __bfloat16_as_ushort(__float2bfloat16_rd(a));
  } else {
    out[0] = __half_as_ushort(__float2half_rn(a));
    out[1] = __half_as_ushort(__float2half_rz(a));
    out[2] = __half_as_ushort(__float2half_ru(a));
    out[3] = __half_as_ushort(__float2half_rd(a));
  }
}

__global__ void packed_kernel(const unsigned* g_words, unsigned* g_out) {
  const unsigned a = g_words[0];
  const unsigned b = g_words[1];
  unsigned i = 0;
#define BOTH(name, ...)              \
  g_out[i++] = name##2(__VA_ARGS__); \
  g_out[i++] = name##4(__VA_ARGS__);
  BOTH(__vadd, a, b)
  BOTH(__vaddss, a, b)
  BOTH(__vaddus, a, b)
  BOTH(__vsub, a, b)
  BOTH(__vsubss, a, b)
  BOTH(__vsubus, a, b)
  BOTH(__vabs, a)
  BOTH(__vabsss, a)
  BOTH(__vneg, a)
  BOTH(__vnegss, a)
  BOTH(__vabsdiffs, a, b)
  BOTH(__vabsdiffu, a, b)
  BOTH(__vavgs, a, b)
  BOTH(__vavgu, a, b)
  BOTH(__vhaddu, a, b)
  BOTH(__vmaxs, a, b)
  BOTH(__vmaxu, a, b)
  BOTH(__vmins, a, b)
  BOTH(__vminu, a, b)
  BOTH(__vcmpeq, a, b)
  BOTH(__vcmpne, a, b)
  BOTH(__vcmpges, a, b)
  BOTH(__vcmpgeu, a, b)
  BOTH(__vcmpgts, a, b)
  BOTH(__vcmpgtu, a, b)
  BOTH(__vcmples, a, b)
  BOTH(__vcmpleu, a, b)
  BOTH(__vcmplts, a, b)
  BOTH(__vcmpltu, a, b)
  BOTH(__vseteq, a, b)
  BOTH(__vsetne, a, b)
  BOTH(__vsetges, a, b)
  BOTH(__vsetgeu, a, b)
  BOTH(__vsetgts, a, b)
  BOTH(__vsetgtu, a, b)
  BOTH(__vsetles, a, b)
  BOTH(__vsetleu, a, b)
  BOTH(__vsetlts, a, b)
  BOTH(__vsetltu, a, b)
  BOTH(__vsads, a, b)
  BOTH(__vsadu, a, b)
#undef BOTH
}

// The inputs come from memory so that nothing is folded at compile time.
__global__ void integers_kernel(const int* g_in, Integers* g_out) {
  const int minus_seven = g_in[0];
  const int large = g_in[1];                         // 2^31 - 1
  const auto bits = static_cast<unsigned>(g_in[2]);  // 0x80000011
  Integers n;
  n.hadd = __hadd(minus_seven, minus_seven + 5);
  n.rhadd = __rhadd(large, large - 1);
  n.uhadd = __uhadd(bits, 0xffffffffu);
  n.urhadd = __urhadd(bits, 0xffffffffu - 1);
  n.dp2a_lo = __dp2a_lo(static_cast<int>(0xfffe0003u), minus_seven, 10);
  n.dp2a_hi = __dp2a_hi(static_cast<int>(0xfffe0003u), static_cast<int>(0x0580ffffu), minus_seven);
  n.dp2a_hi_unsigned = __dp2a_hi(0xfffe0003u, 0x0580ffffu, bits);
  n.smaller = umin(bits, 5u);
  n.larger = umax(bits, 5u);
  n.ll_smaller = llmin(minus_seven, 1ll << 40);
  n.ll_larger = llmax(minus_seven, 1ll << 40);
  n.ull_smaller = ullmin(bits, 1ull << 63);
  n.ull_larger = ullmax(bits, 1ull << 63);
  n.found[0] = __fns(bits, 0, 2);
  n.found[1] = __fns(bits, 30, -2);
  n.found[2] = __fns(bits, 31, 0);
  n.found[3] = __fns(bits, 5, 0);
  n.found[4] = __fns(bits, 5, 2);
  const __half h = __float2half(static_cast<float>(minus_seven) / 2);
  n.half_to_int_rz = __half2int_rz(h);
  n.half_to_int_ru = __half2int_ru(__hneg(h));
  n.half_sum = __half2float(__hadd(h, h));
  *g_out = n;
}

__global__ void specials_kernel(const float* g_in, Specials* g_out) {
  const float two = g_in[0];
  const float huge = g_in[1];
  Specials n;
  n.norm3 = norm3df(two * huge, 3 * huge, 6 * huge);
  n.rnorm3 = rnorm3df(two, 3 * two / 2, 3 * two);
  n.norm4 = norm4df(two, 4 * two / 2, 5 * two / 2, 6 * two / 2);
  n.rhypot = rhypotf(3 * two, 4 * two);
  sincospif(two / 12, &n.sine_pi, &n.cosine_pi);
  sincosf(two, &n.sine, &n.cosine);
  n.erfcx_small = erfcxf(two);
  n.erfcx_large = erfcxf(50 * two);
  n.quantile = normcdfinvf(two * 0.4875f);
  n.quantile_tail = normcdfinvf(two * 5e-11f);
  n.erf_inverse = erfinvf(two / 8);
  n.erfc_inverse = erfcinvf(two / 2000);
  sincospi(two * 1e9 + 0.25, &n.sine_double, &n.cosine_double);
  n.norm3_double = norm3d(2e200 * two, 3e200 * two, 6e200 * two);
  n.quantile_double = normcdfinv(static_cast<double>(two) / 200);
  n.erfc_inverse_double = erfcinv(static_cast<double>(two) / 2000);
  *g_out = n;
}

template <class T>
Status run(StreamRef stream, Operation operation, unsigned n, const T* g_in, T* g_out) {
  return launch(rounded_kernel<T>, {.grid = blocks_for(n), .block = dim3(kBlock), .stream = stream},
                operation, n, g_in, g_out);
}

}  // namespace

template <>
Status run_rounded(StreamRef stream, Operation operation, unsigned n, const float* g_in, float* g_out) {
  return run(stream, operation, n, g_in, g_out);
}
template <>
Status run_rounded(StreamRef stream, Operation operation, unsigned n, const double* g_in, double* g_out) {
  return run(stream, operation, n, g_in, g_out);
}

#define RUN_CONVERSION(From, To)                                                                     \
  template <>                                                                                        \
  Status run_rounded_conversion(StreamRef stream, unsigned n, const From* g_in, To* g_out) {         \
    return launch(conversion_kernel<From, To>,                                                       \
                  {.grid = blocks_for(n), .block = dim3(kBlock), .stream = stream}, n, g_in, g_out); \
  }
RUN_CONVERSION(double, float)
RUN_CONVERSION(int, float)
RUN_CONVERSION(unsigned, float)
RUN_CONVERSION(long long, float)
RUN_CONVERSION(unsigned long long, float)
RUN_CONVERSION(long long, double)
RUN_CONVERSION(unsigned long long, double)
#undef RUN_CONVERSION

Status run_rounded_to_16(StreamRef stream, bool to_bfloat16, unsigned n, const float* g_in,
                         std::uint16_t* g_out) {
  return launch(to_16_kernel, {.grid = blocks_for(n), .block = dim3(kBlock), .stream = stream}, to_bfloat16,
                n, g_in, g_out);
}
Status run_packed(StreamRef stream, const unsigned* g_words, unsigned* g_out) {
  return launch(packed_kernel, {.stream = stream}, g_words, g_out);
}
Status run_integers(StreamRef stream, const int* g_in, Integers* g_out) {
  return launch(integers_kernel, {.stream = stream}, g_in, g_out);
}
Status run_specials(StreamRef stream, const float* g_in, Specials* g_out) {
  return launch(specials_kernel, {.stream = stream}, g_in, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
