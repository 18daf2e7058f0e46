// OpenBLAS's gemm as a peer on the CPU: f32 and f64, one matrix, no bias and no activation.
#include <cblas.h>

#include <string>
#include <utility>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/gemm_plan.h"

namespace rooftile {
namespace {

using gemm_plan::Matrix;
using gemm_plan::Problem;

// An operand as BLAS sees it: one axis without gaps, the other by a leading dimension.
struct Operand {
  CBLAS_TRANSPOSE transpose;
  blasint leading;
};
bool find(const Matrix& x, std::int64_t rows, std::int64_t columns, Operand& operand) {
  if (x.column == 1 && (x.row >= columns || rows == 1)) {
    operand = {CblasNoTrans, static_cast<blasint>(rows == 1 ? columns : x.row)};
    return true;
  }
  if (x.row == 1 && (x.column >= rows || columns == 1)) {
    operand = {CblasTrans, static_cast<blasint>(columns == 1 ? rows : x.column)};
    return true;
  }
  return false;
}

std::string_view supports(const GemmArgs& args, const DeviceProperties&) {
  const Problem p = gemm_plan::problem_of(args);
  Operand operand{};
  constexpr std::int64_t kMost = 2147483647;
  if (p.bias_data != nullptr || p.activation != GemmActivation::none)
    return "OpenBLAS gemm is asked without bias and activation";
  if (p.c_data != nullptr && p.c_data != p.out_data) return "OpenBLAS gemm is asked for c in place";
  if (p.batches != 1) return "OpenBLAS gemm is asked for one matrix";
  if (p.k == 0) return "OpenBLAS gemm is asked for k above 0";
  if (!find(p.a, p.m, p.k, operand) || !find(p.b, p.k, p.n, operand) || !find(p.out, p.m, p.n, operand) ||
      operand.transpose == CblasTrans)
    return "OpenBLAS gemm needs an axis without gaps";
  if (p.m > kMost || p.n > kMost || p.k > kMost) return "OpenBLAS gemm counts in 32 bits";
  return "";
}

Status launch_openblas(const Call<GemmArgs>& call) {
  const Problem p = gemm_plan::problem_of(call.args);
  if (p.is_empty()) return {};
  Operand a{};
  Operand b{};
  Operand out{};
  if (!find(p.a, p.m, p.k, a) || !find(p.b, p.k, p.n, b) || !find(p.out, p.m, p.n, out))
    return internal_error("not a matrix of BLAS");
  const auto m = static_cast<blasint>(p.m);
  const auto n = static_cast<blasint>(p.n);
  const auto k = static_cast<blasint>(p.k);
  if (call.args.a.dtype == DType::f32) {
    cblas_sgemm(CblasRowMajor, a.transpose, b.transpose, m, n, k, static_cast<float>(p.alpha),
                static_cast<const float*>(p.a_data), a.leading, static_cast<const float*>(p.b_data),
                b.leading, static_cast<float>(p.beta), static_cast<float*>(p.out_data), out.leading);
  } else {
    cblas_dgemm(CblasRowMajor, a.transpose, b.transpose, m, n, k, p.alpha,
                static_cast<const double*>(p.a_data), a.leading, static_cast<const double*>(p.b_data),
                b.leading, p.beta, static_cast<double*>(p.out_data), out.leading);
  }
  return {};
}

// "OpenBLAS 0.3.21 gemm", without the options that it was built with.
std::string version() {
  const std::string config = openblas_get_config();
  const std::size_t number = config.find(' ');
  return config.substr(0, number == std::string::npos ? number : config.find(' ', number + 1)) + " gemm";
}

}  // namespace

void register_gemm_peers_openblas(Registry& registry) {
  PeerRow row = describe_peer<GemmArgs>("gemm", "openblas", version(), launch_openblas, supports);
  row.device = DeviceKind::cpu;
  registry.add(std::move(row));
}

}  // namespace rooftile
