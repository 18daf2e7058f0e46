// cuBLAS's geam, C = alpha * op(A) + beta * op(B), as the opponent of transpose: op(A) = A^T with alpha 1 and
// beta 0.
//
// Asked for f32 and f64 alone, and not for integers of their sizes: geam computes, it multiplies by alpha.
// There is no batch of it.
#include <cublas_v2.h>

#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/transpose/transpose.h"
#include "rooftile/ops/transpose/transpose_plan.h"

namespace rooftile {
namespace {

using transpose_plan::Geometry;

// A handle per thread, of the device that was used last: making one allocates.
class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (handle_ != nullptr) cublasDestroy(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  cublasStatus_t get(int device, cublasHandle_t& handle) {
    if (handle_ != nullptr && device_ != device) {
      cublasDestroy(handle_);
      handle_ = nullptr;
    }
    if (handle_ == nullptr) {
      if (const cublasStatus_t status = cublasCreate(&handle_); status != CUBLAS_STATUS_SUCCESS)
        return status;
      device_ = device;
    }
    handle = handle_;
    return CUBLAS_STATUS_SUCCESS;
  }

 private:
  cublasHandle_t handle_ = nullptr;
  int device_ = -1;
};

std::string_view supports(const TransposeArgs& args, const DeviceProperties&) {
  const Geometry g = transpose_plan::geometry(args);
  if (args.in.dtype != DType::f32 && args.in.dtype != DType::f64) return "geam is asked for f32 and f64 only";
  if (g.item_bytes != static_cast<int>(size_of(args.in.dtype)))
    return "geam is asked for single elements only";
  if (g.batch.count != 1) return "geam has no batch";
  if (g.in_place) return "geam is asked out of place only";
  if (!g.has_rows() || g.in_row % g.item_bytes != 0) return "geam needs rows without gaps";
  constexpr std::int64_t kMost = 2147483647;
  const std::int64_t in_pitch = g.in_row / g.item_bytes;
  const std::int64_t out_pitch = g.out_row / g.item_bytes;
  if (g.m > kMost || g.n > kMost || in_pitch > kMost || out_pitch > kMost) return "geam counts in 32 bits";
  if (in_pitch < g.n || out_pitch < g.m) return "geam needs rows that do not overlap";
  return "";
}

std::string status_text(cublasStatus_t status) {
  return std::string("cublas geam: ") + cublasGetStatusString(status);
}

Status launch_geam(const Call<TransposeArgs>& call) {
  const Geometry g = transpose_plan::geometry(call.args);
  if (g.items() == 0) return {};
  thread_local Handle cached;
  cublasHandle_t handle = nullptr;
  cublasStatus_t status = cached.get(call.stream.device.index, handle);
  if (status != CUBLAS_STATUS_SUCCESS) return unavailable(status_text(status));
  status = cublasSetStream(handle, static_cast<cudaStream_t>(call.stream.handle));
  if (status != CUBLAS_STATUS_SUCCESS) return internal_error(status_text(status));

  // cuBLAS counts by columns: our row-major [m][n] is its n x m, and out [n][m] its m x n.
  const auto rows = static_cast<int>(g.m);
  const auto columns = static_cast<int>(g.n);
  const auto in_pitch = static_cast<int>(g.in_row / g.item_bytes);
  const auto out_pitch = static_cast<int>(g.out_row / g.item_bytes);
  const auto geam = [&](auto* function, auto one, auto zero) {
    const auto* in = static_cast<const decltype(one)*>(call.args.in.data);
    auto* out = static_cast<decltype(one)*>(call.args.out.data);
    // B is not read where beta is zero; geam allows C in its place.
    return function(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, in, in_pitch, &zero, out,
                    out_pitch, out, out_pitch);
  };
  const bool f32 = call.args.in.dtype == DType::f32;
  status = f32 ? geam(&cublasSgeam, 1.0f, 0.0f) : geam(&cublasDgeam, 1.0, 0.0);
  return status == CUBLAS_STATUS_SUCCESS ? Status() : internal_error(status_text(status));
}

std::string version() {
  int number = 0;
  if (cublasGetProperty(MAJOR_VERSION, &number) != CUBLAS_STATUS_SUCCESS) return "cuBLAS geam";
  std::string text = "cuBLAS " + std::to_string(number);
  for (const libraryPropertyType part : {MINOR_VERSION, PATCH_LEVEL}) {
    if (cublasGetProperty(part, &number) == CUBLAS_STATUS_SUCCESS) text += "." + std::to_string(number);
  }
  return text + " geam";
}

}  // namespace

void register_transpose_peers_cublas(Registry& registry) {
  registry.add(describe_peer<TransposeArgs>("transpose", "cublas", version(), launch_geam, supports));
}

}  // namespace rooftile
