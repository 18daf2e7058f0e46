// cuBLAS's gemm as a peer: f32 (TF32 off) and f64, strided batches, no bias and no activation.
#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/gemm_plan.h"
#include "rooftile/peers/cublas_handle.h"

namespace rooftile {
namespace {

using gemm_plan::Matrix;
using gemm_plan::Problem;

// An operand as cuBLAS sees it: one axis without gaps, the other by a leading dimension.
struct Operand {
  bool is_transposed;  // its columns lie without gaps, of what cuBLAS takes for columns
  std::int64_t leading;
};
bool find(const Matrix& x, std::int64_t rows, std::int64_t columns, Operand& operand) {
  if (x.column == 1 && (x.row >= columns || rows == 1)) {
    operand = {false, rows == 1 ? columns : x.row};
    return true;
  }
  if (x.row == 1 && (x.column >= rows || columns == 1)) {
    operand = {true, columns == 1 ? rows : x.column};
    return true;
  }
  return false;
}

std::string_view supports(const GemmArgs& args, const DeviceProperties&) {
  const Problem p = gemm_plan::problem_of(args);
  Operand operand{};
  if (size_of(args.a.dtype) == 2) return "of 16 bits cuBLASLt is asked";
  constexpr std::int64_t kMost = 2147483647;
  if (p.bias_data != nullptr || p.activation != GemmActivation::none)
    return "cuBLAS gemm is asked without bias and activation";
  if (p.c_data != nullptr && p.c_data != p.out_data) return "cuBLAS gemm is asked for c in place";
  if (!find(p.a, p.m, p.k, operand) || !find(p.b, p.k, p.n, operand) || !find(p.out, p.m, p.n, operand) ||
      operand.is_transposed)
    return "cuBLAS gemm needs an axis without gaps";
  if (p.k == 0) return "cuBLAS gemm refuses some products of k = 0";
  if (p.m > kMost || p.n > kMost || p.k > kMost || p.batches > kMost)
    return "cuBLAS gemm is asked in 32 bits";
  return "";
}

Status launch_cublas(const Call<GemmArgs>& call) {
  const Problem p = gemm_plan::problem_of(call.args);
  if (p.is_empty()) return {};
  const peers::CublasCall cublas(call.stream);
  ROOFTILE_TRY(cublas.status());
  Operand a{};
  Operand b{};
  Operand out{};
  if (!find(p.a, p.m, p.k, a) || !find(p.b, p.k, p.n, b) || !find(p.out, p.m, p.n, out))
    return internal_error("not a matrix of BLAS");
  // cuBLAS counts by columns: it computes the transposed product, of b's and a's transposes.
  const cublasOperation_t op_b = b.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t op_a = a.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto m = static_cast<int>(p.m);
  const auto n = static_cast<int>(p.n);
  const auto k = static_cast<int>(p.k);
  const auto gemm = [&](auto* one, auto* batched, auto alpha, auto beta) {
    using T = decltype(alpha);
    const auto* g_a = static_cast<const T*>(p.a_data);
    const auto* g_b = static_cast<const T*>(p.b_data);
    auto* g_out = static_cast<T*>(p.out_data);
    const auto lead_a = static_cast<int>(a.leading);
    const auto lead_b = static_cast<int>(b.leading);
    const auto lead_out = static_cast<int>(out.leading);
    if (p.batches == 1)
      return one(cublas.handle(), op_b, op_a, n, m, k, &alpha, g_b, lead_b, g_a, lead_a, &beta, g_out,
                 lead_out);
    return batched(cublas.handle(), op_b, op_a, n, m, k, &alpha, g_b, lead_b, p.b.batch, g_a, lead_a,
                   p.a.batch, &beta, g_out, lead_out, p.out.batch, static_cast<int>(p.batches));
  };
  const cublasStatus_t status = call.args.a.dtype == DType::f32
                                    ? gemm(&cublasSgemm, &cublasSgemmStridedBatched,
                                           static_cast<float>(p.alpha), static_cast<float>(p.beta))
                                    : gemm(&cublasDgemm, &cublasDgemmStridedBatched, p.alpha, p.beta);
  return peers::cublas_status(status, "gemm");
}

}  // namespace

void register_gemm_peers_cublas(Registry& registry) {
  registry.add(
      describe_peer<GemmArgs>("gemm", "cublas", peers::cublas_version("gemm"), launch_cublas, supports));
}

}  // namespace rooftile
