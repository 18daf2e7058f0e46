// CUB's DeviceTransform as the opponent of elementwise: sums, products and gelu_tanh of f32, f16 and bf16, chains of bias,
// gelu and gate in f32, and casts of f32 to the 16- and 8-bit floats. Counts are 32 bits wide.
//
// Compiled against the toolkit's CUB and, by elementwise_peers_cub_newest.cu, against the newest.
#include <cub/device/device_transform.cuh>
#include <cuda/functional>
#include <cuda/std/tuple>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <limits>
#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/types.h"
#include "rooftile/ops/elementwise/elementwise.h"
#include "rooftile/ops/elementwise/elementwise_program.h"

namespace rooftile {
namespace {

__device__ inline float widen(float x) { return x; }
__device__ inline float widen(__half x) { return __half2float(x); }
__device__ inline float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class T>
__device__ T narrow(float x) {
  if constexpr (std::is_same_v<T, __half>) return __float2half_rn(x);
  if constexpr (std::is_same_v<T, __nv_bfloat16>) return __float2bfloat16_rn(x);
  if constexpr (std::is_same_v<T, float>) return x;
}

// As fast as it can be written: one exponential and one reciprocal.
__device__ inline float gelu_of(float x) {
  return __fdividef(x, 1.0f + expf(-x * (1.5957691216057308f + 0.07135481282553083f * x * x)));
}
template <class T>
struct Sum {
  __device__ T operator()(T x, T y) const { return narrow<T>(widen(x) + widen(y)); }
};
template <class T>
struct Product {
  __device__ T operator()(T x, T y) const { return narrow<T>(widen(x) * widen(y)); }
};
template <class T>
struct Gelu {
  __device__ T operator()(T x) const { return narrow<T>(gelu_of(widen(x))); }
};
struct GatedGelu {
  __device__ float operator()(float x, float bias, float gate) const { return gelu_of(x + bias) * gate; }
};
struct ToHalf {
  __device__ __half operator()(float x) const { return __float2half_rn(x); }
};
struct ToBfloat16 {
  __device__ __nv_bfloat16 operator()(float x) const { return __float2bfloat16_rn(x); }
};
// The instruction saturates, f8e4m3 as torch and rooftile have it does not.
struct ToE4m3 {
  __device__ std::uint8_t operator()(float x) const {
    const std::uint8_t bits = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    return fabsf(x) > 464.0f ? static_cast<std::uint8_t>(bits | 0x7f) : bits;
  }
};

const ElementwiseChain kGatedGelu = {ElementwiseOp::add, ElementwiseOp::gelu_tanh, ElementwiseOp::mul};

// CUB may hand copies of the elements to the functor, which lets it bring them by bulk copies.
template <class Out, class Functor, class... In>
cudaError_t transform(const Call<ElementwiseArgs>& call, Functor functor, const In*... in) {
  return cub::DeviceTransform::Transform(
      ::cuda::std::make_tuple(in...), static_cast<Out*>(call.args.out.data),
      static_cast<int>(call.args.out.numel()), ::cuda::proclaim_copyable_arguments(functor),
      static_cast<cudaStream_t>(call.stream.handle));
}

template <class T>
cudaError_t run_uniform(const Call<ElementwiseArgs>& call) {
  const auto* a = static_cast<const T*>(call.args.a.data);
  const auto* b = static_cast<const T*>(call.args.b.data);
  if (call.args.op[0] == ElementwiseOp::add) return transform<T>(call, Sum<T>{}, a, b);
  if (call.args.op[0] == ElementwiseOp::mul) return transform<T>(call, Product<T>{}, a, b);
  return transform<T>(call, Gelu<T>{}, a);
}

cudaError_t run_cast(const Call<ElementwiseArgs>& call) {
  const auto* a = static_cast<const float*>(call.args.a.data);
  if (call.args.out.dtype == DType::f16) return transform<__half>(call, ToHalf{}, a);
  if (call.args.out.dtype == DType::bf16) return transform<__nv_bfloat16>(call, ToBfloat16{}, a);
  return transform<std::uint8_t>(call, ToE4m3{}, a);
}

Status launch_cub(const Call<ElementwiseArgs>& call) {
  cudaError_t error = cudaErrorNotSupported;
  if (call.args.op == kGatedGelu) {
    error = transform<float>(call, GatedGelu{}, static_cast<const float*>(call.args.a.data),
                             static_cast<const float*>(call.args.b.data),
                             static_cast<const float*>(call.args.c.data));
  } else if (call.args.op[0] == ElementwiseOp::cast) {
    error = run_cast(call);
  } else {
    return dispatch(DTypes<float, __half, __nv_bfloat16>{}, call.args.out.dtype, [&]<class T>() -> Status {
      const cudaError_t result = run_uniform<T>(call);
      return result == cudaSuccess ? Status() : detail::cuda_error_status(result, "cub::DeviceTransform");
    });
  }
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cub::DeviceTransform");
}

std::string_view supports(const ElementwiseArgs& args, const DeviceProperties&) {
  constexpr std::string_view kAsked =
      "CUB is asked for add, mul and gelu_tanh, for add,gelu_tanh,mul in f32, and for casts of f32 to f16, bf16 and f8e4m3";
  if (args.out.numel() > std::numeric_limits<int>::max()) return "CUB is asked for up to 2^31 - 1 elements";
  const elementwise_program::Inputs inputs = elementwise_program::inputs_of(args);
  for (const ConstTensorView& view : inputs.span()) {
    if (!view.contiguous() || view.numel() != args.out.numel())
      return "CUB is asked for tensors without gaps, of one shape";
  }
  if (!args.out.contiguous()) return "CUB is asked for tensors without gaps, of one shape";
  const DType in = args.a.dtype;
  const DType out = args.out.dtype;
  if (args.op.size() == 1 && args.op[0] == ElementwiseOp::cast) {
    const bool narrows = out == DType::f16 || out == DType::bf16 || out == DType::f8e4m3;
    return in == DType::f32 && narrows ? "" : kAsked;
  }
  for (const ConstTensorView& view : inputs.span()) {
    if (view.dtype != out) return "CUB is asked for tensors of one dtype only";
  }
  if (args.op == kGatedGelu) return out == DType::f32 ? "" : kAsked;
  const ElementwiseOp op = args.op[0];
  if (args.op.size() != 1 ||
      (op != ElementwiseOp::add && op != ElementwiseOp::mul && op != ElementwiseOp::gelu_tanh)) {
    return kAsked;
  }
  return out == DType::f32 || out == DType::f16 || out == DType::bf16 ? "" : kAsked;
}

}  // namespace

#if defined(ROOFTILE_NEWEST_CUB)
#define ROOFTILE_REGISTER_CUB register_elementwise_peers_cub_newest
constexpr const char* kPeer = "cub_newest";
#else
#define ROOFTILE_REGISTER_CUB register_elementwise_peers_cub
constexpr const char* kPeer = "cub";
#endif

void ROOFTILE_REGISTER_CUB(Registry& registry) {
  registry.add(describe_peer<ElementwiseArgs>("elementwise", kPeer,
                                              "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                                  std::to_string(CUB_MINOR_VERSION) + "." +
                                                  std::to_string(CUB_SUBMINOR_VERSION),
                                              launch_cub, supports));
}

}  // namespace rooftile
