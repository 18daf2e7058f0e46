// cuBLAS's dot product as the opponent of dot: cublasDotEx_64, accumulated in f32 (f64 in f64), the result left on the
// device.
#include <cublas_v2.h>

#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/dot/dot.h"
#include "rooftile/ops/dot/dot_plan.h"
#include "rooftile/peers/cublas_handle.h"

namespace rooftile {
namespace {

cudaDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

std::string_view supports(const DotArgs& args, const DeviceProperties&) {
  if (args.out.dtype != args.a.dtype) return "cublasDotEx's result has the vectors' dtype";
  if (args.a.dtype == DType::f32 && dot_plan::compute_dtype(args) == DType::f64)
    return "cublasDotEx accumulates f32 in f32";
  return dot_plan::has_gaps(args) ? "cublasDotEx is asked for vectors without gaps only" : "";
}

Status launch_dot(const Call<DotArgs>& call) {
  const DotArgs& args = call.args;
  peers::CublasCall cublas(call.stream, CUBLAS_POINTER_MODE_DEVICE);
  if (!cublas.status().ok()) return cublas.status();
  const cudaDataType_t type = type_of(args.a.dtype);
  const cudaDataType_t execution = args.a.dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F;
  return peers::cublas_status(cublasDotEx_64(cublas.handle(), args.a.numel(), args.a.data, type, 1,
                                             args.b.data, type, 1, args.out.data, type, execution),
                              "dotEx");
}

}  // namespace

void register_dot_peers_cublas(Registry& registry) {
  registry.add(describe_peer<DotArgs>("dot", "cublas", peers::cublas_version("dotEx"), launch_dot, supports));
}

}  // namespace rooftile
