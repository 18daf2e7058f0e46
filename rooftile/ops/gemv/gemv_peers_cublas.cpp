// cuBLAS as the opponent of gemv. "cublas": its gemv for f32 and f64, gemmEx with one column for the half types, the strided
// batched forms of both for a batch. "cublas_half_gemv": HSHgemvStridedBatched and TSTgemvStridedBatched, which there are for half
// types alone. All accumulate in f32 (f64 in f64).
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/gemv/gemv.h"
#include "rooftile/ops/gemv/gemv_plan.h"
#include "rooftile/peers/cublas_handle.h"

namespace rooftile {
namespace {

using gemv_plan::Geometry;
using peers::cublas_status;

bool is_half(const GemvArgs& args) { return args.a.dtype == DType::f16 || args.a.dtype == DType::bf16; }

std::string_view supports(const GemvArgs& args, const DeviceProperties&) {
  const Geometry g = gemv_plan::geometry(args);
  if (args.beta != 0 && args.c.data != args.y.data) return "cuBLAS adds to y: c must be y";
  if (g.outputs() == 0 || g.reduced() == 0) return "cuBLAS is asked for matrices with elements alone";
  if (g.x_step <= 0 || g.y_step <= 0) return "cuBLAS is asked for vectors that run forward alone";
  return "";
}

std::string_view supports_cublas(const GemvArgs& args, const DeviceProperties& device) {
  const Geometry g = gemv_plan::geometry(args);
  if (is_half(args) && (g.x_step != 1 || g.y_step != 1)) return "gemmEx takes vectors without gaps";
  return supports(args, device);
}

std::string_view supports_half_gemv(const GemvArgs& args, const DeviceProperties& device) {
  return is_half(args) ? supports(args, device) : "cuBLAS has these forms of gemv for half types";
}

// cuBLAS counts by columns: our rows are the columns of its matrix, which our product has transposed.
cublasOperation_t operation(const Geometry& g) { return g.transposed ? CUBLAS_OP_N : CUBLAS_OP_T; }

template <class T, class Single, class Batched>
Status launch_gemv(const Call<GemvArgs>& call, cublasHandle_t handle, Single single, Batched batched) {
  const GemvArgs& args = call.args;
  const Geometry g = gemv_plan::geometry(args);
  const auto alpha = static_cast<T>(args.alpha);
  const auto beta = static_cast<T>(args.beta);
  const auto* a = static_cast<const T*>(args.a.data);
  const auto* x = static_cast<const T*>(args.x.data);
  auto* y = static_cast<T*>(args.y.data);
  if (g.batches == 1) {
    return cublas_status(
        single(handle, operation(g), g.columns, g.rows, &alpha, a, g.pitch, x, g.x_step, &beta, y, g.y_step),
        "gemv");
  }
  return cublas_status(batched(handle, operation(g), g.columns, g.rows, &alpha, a, g.pitch, g.a_batch, x,
                               g.x_step, g.x_batch, &beta, y, g.y_step, g.y_batch, g.batches),
                       "gemvStridedBatched");
}

Status launch_gemm(const Call<GemvArgs>& call, cublasHandle_t handle) {
  const GemvArgs& args = call.args;
  const Geometry g = gemv_plan::geometry(args);
  const cudaDataType_t type = args.a.dtype == DType::f16 ? CUDA_R_16F : CUDA_R_16BF;
  const auto alpha = static_cast<float>(args.alpha);
  const auto beta = static_cast<float>(args.beta);
  if (g.batches == 1) {
    return cublas_status(
        cublasGemmEx_64(handle, operation(g), CUBLAS_OP_N, g.outputs(), 1, g.reduced(), &alpha, args.a.data,
                        type, g.pitch, args.x.data, type, g.reduced(), &beta, args.y.data, type, g.outputs(),
                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "gemmEx");
  }
  return cublas_status(
      cublasGemmStridedBatchedEx_64(handle, operation(g), CUBLAS_OP_N, g.outputs(), 1, g.reduced(), &alpha,
                                    args.a.data, type, g.pitch, g.a_batch, args.x.data, type, g.reduced(),
                                    g.x_batch, &beta, args.y.data, type, g.outputs(), g.y_batch, g.batches,
                                    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
      "gemmStridedBatchedEx");
}

Status launch_cublas(const Call<GemvArgs>& call) {
  const peers::CublasCall cublas(call.stream);
  if (!cublas.status().ok()) return cublas.status();
  switch (call.args.a.dtype) {
    case DType::f32:
      return launch_gemv<float>(call, cublas.handle(), cublasSgemv_64, cublasSgemvStridedBatched_64);
    case DType::f64:
      return launch_gemv<double>(call, cublas.handle(), cublasDgemv_64, cublasDgemvStridedBatched_64);
    default:
      return launch_gemm(call, cublas.handle());
  }
}

Status launch_half_gemv(const Call<GemvArgs>& call) {
  const peers::CublasCall cublas(call.stream);
  if (!cublas.status().ok()) return cublas.status();
  const GemvArgs& args = call.args;
  const Geometry g = gemv_plan::geometry(args);
  const auto alpha = static_cast<float>(args.alpha);
  const auto beta = static_cast<float>(args.beta);
  const auto start = [&]<class T>(auto function, const T* a) {
    return cublas_status(function(cublas.handle(), operation(g), g.columns, g.rows, &alpha, a, g.pitch,
                                  g.a_batch, static_cast<const T*>(args.x.data), g.x_step, g.x_batch, &beta,
                                  static_cast<T*>(args.y.data), g.y_step, g.y_batch, g.batches),
                         "half gemvStridedBatched");
  };
  return args.a.dtype == DType::f16
             ? start(cublasHSHgemvStridedBatched_64, static_cast<const __half*>(args.a.data))
             : start(cublasTSTgemvStridedBatched_64, static_cast<const __nv_bfloat16*>(args.a.data));
}

}  // namespace

void register_gemv_peers_cublas(Registry& registry) {
  registry.add(describe_peer<GemvArgs>("gemv", "cublas", peers::cublas_version("gemv, gemmEx"), launch_cublas,
                                       supports_cublas));
  registry.add(describe_peer<GemvArgs>("gemv", "cublas_half_gemv",
                                       peers::cublas_version("HSHgemvStridedBatched, TSTgemvStridedBatched"),
                                       launch_half_gemv, supports_half_gemv));
}

}  // namespace rooftile
