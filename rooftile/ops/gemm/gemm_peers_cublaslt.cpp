// cuBLASLt as a peer of 16-bit products: with its epilogues of bias, relu and gelu, and the fastest of the algorithms that its heuristic
// offers, each timed in front of the measurement. Its gelu is gelu_tanh_approx: sums are rounded to 16 bits in front of the bias. Not asked
// for: parts along k that are rounded to 16 bits before they are added up, which are off by more than the reference allows.
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <optional>
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

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
constexpr int kAlgorithms = 8;  // that the heuristic is asked for

Status checked(cublasStatus_t status, const char* function) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return internal_error(std::string("cublasLt ") + function + ": " + cublasLtGetStatusString(status));
}
#define ROOFTILE_LT(call) ROOFTILE_TRY(checked(call, #call))

// A row-major matrix is the transposed one by columns, which is how cuBLASLt counts.
struct Operand {
  bool is_transposed = false;  // its columns lie without gaps
  std::int64_t leading = 0;
};
std::optional<Operand> operand_of(const Matrix& x, std::int64_t rows, std::int64_t columns) {
  if (x.column == 1 && (x.row >= columns || rows == 1)) return Operand{false, rows == 1 ? columns : x.row};
  if (x.row == 1 && (x.column >= rows || columns == 1)) return Operand{true, columns == 1 ? rows : x.column};
  return std::nullopt;
}

std::optional<cublasLtEpilogue_t> epilogue_of(const Problem& p) {
  const bool has_bias = p.bias_data != nullptr;
  switch (p.activation) {
    case GemmActivation::none:
      return has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case GemmActivation::relu:
      return has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case GemmActivation::gelu_tanh_approx:
      return has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
      return std::nullopt;
  }
}

cudaDataType_t type_of(DType dtype) {
  return dtype == DType::f32 ? CUDA_R_32F : dtype == DType::f16 ? CUDA_R_16F : CUDA_R_16BF;
}

std::string_view supports(const GemmArgs& args, const DeviceProperties&) {
  const Problem p = gemm_plan::problem_of(args);
  if (size_of(args.a.dtype) != 2) return "cuBLASLt is asked for f16 and bf16";
  if (p.c_data != nullptr && p.c_data != p.out_data) return "cuBLASLt is asked for c in place";
  if (!epilogue_of(p)) return "cuBLASLt has no such epilogue";
  if (p.bias_data != nullptr && p.bias.column != 1) return "cuBLASLt takes a bias along out's rows";
  const auto out = operand_of(p.out, p.m, p.n);
  if (!operand_of(p.a, p.m, p.k) || !operand_of(p.b, p.k, p.n) || !out || out->is_transposed)
    return "cuBLASLt needs an axis without gaps";
  return p.k == 0 ? "cuBLASLt refuses products of k = 0" : "";
}

RungPlan plan(const GemmArgs&, const DeviceProperties&) { return {.workspace = {.bytes = kWorkspaceBytes}}; }

// What is the same for every launch of a call's shapes.
class Product {
 public:
  static Result<std::shared_ptr<Product>> create(const GemmArgs& args) {
    auto product = std::make_shared<Product>();
    ROOFTILE_TRY(product->describe(args));
    return product;
  }
  Product() = default;
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  ~Product() {
    for (cublasLtMatrixLayout_t* layout : {&a_, &b_, &out_})
      if (*layout != nullptr) cublasLtMatrixLayoutDestroy(*layout);
    if (operation_ != nullptr) cublasLtMatmulDescDestroy(operation_);
    if (handle_ != nullptr) cublasLtDestroy(handle_);
  }

  Status choose(const AnyCall& call) {
    cublasLtMatmulPreference_t preference = nullptr;
    ROOFTILE_LT(cublasLtMatmulPreferenceCreate(&preference));
    std::array<cublasLtMatmulHeuristicResult_t, kAlgorithms> found{};
    int count = 0;
    const std::size_t bytes = kWorkspaceBytes;
    cublasStatus_t status = cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes));
    const std::uint32_t in_f32 = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                    &in_f32, sizeof(in_f32));
    // It takes all matrices to be aligned to 256 bytes where it is not told.
    const Problem p = gemm_plan::problem_of(call.args.as<GemmArgs>());
    const std::pair<cublasLtMatmulPreferenceAttributes_t, const void*> matrices[] = {
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.b_data},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.a_data},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.out_data},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.out_data}};
    for (const auto& [attribute, data] : matrices) {
      const auto address = reinterpret_cast<std::uintptr_t>(data) | 256;
      const auto alignment = static_cast<std::uint32_t>(address & (~address + 1));
      if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulPreferenceSetAttribute(preference, attribute, &alignment, sizeof(alignment));
    }
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulAlgoGetHeuristic(handle_, operation_, b_, a_, out_, out_, preference,
                                              kAlgorithms, found.data(), &count);
    cublasLtMatmulPreferenceDestroy(preference);
    ROOFTILE_TRY(checked(status, "cublasLtMatmulAlgoGetHeuristic"));
    if (count == 0) return unsupported("cuBLASLt offers no algorithm");
    double least = 0;
    for (int i = 0; i < count; ++i) {
      const cublasLtMatmulHeuristicResult_t& each = found[static_cast<std::size_t>(i)];
      double milliseconds = 0;
      if (each.state != CUBLAS_STATUS_SUCCESS || !time(call, each.algo, milliseconds).ok()) continue;
      if (least > 0 && milliseconds >= least) continue;
      least = milliseconds;
      algorithm_ = each.algo;
    }
    return least > 0 ? Status() : unsupported("none of cuBLASLt's algorithms runs");
  }
  Status run(const AnyCall& call) const { return run(call, algorithm_); }

 private:
  Status describe(const GemmArgs& args) {
    const Problem p = gemm_plan::problem_of(args);
    const Operand a = *operand_of(p.a, p.m, p.k);
    const Operand b = *operand_of(p.b, p.k, p.n);
    const Operand out = *operand_of(p.out, p.m, p.n);
    ROOFTILE_LT(cublasLtCreate(&handle_));
    ROOFTILE_LT(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t op_a = a.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t op_b = b.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasLtEpilogue_t epilogue = *epilogue_of(p);
    ROOFTILE_LT(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &op_b, sizeof(op_b)));
    ROOFTILE_LT(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSB, &op_a, sizeof(op_a)));
    ROOFTILE_LT(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                               sizeof(epilogue)));
    if (p.bias_data != nullptr) {
      ROOFTILE_LT(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.bias_data,
                                                 sizeof(p.bias_data)));
      const cudaDataType_t type = type_of(args.out.dtype);
      ROOFTILE_LT(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type,
                                                 sizeof(type)));
    }
    const cudaDataType_t in = type_of(args.a.dtype);
    ROOFTILE_TRY(
        describe(a_, in, a.is_transposed ? p.m : p.k, a.is_transposed ? p.k : p.m, a.leading, p, p.a.batch));
    ROOFTILE_TRY(
        describe(b_, in, b.is_transposed ? p.k : p.n, b.is_transposed ? p.n : p.k, b.leading, p, p.b.batch));
    return describe(out_, type_of(args.out.dtype), p.n, p.m, out.leading, p, p.out.batch);
  }
  static Status describe(cublasLtMatrixLayout_t& layout, cudaDataType_t type, std::int64_t rows,
                         std::int64_t columns, std::int64_t leading, const Problem& p, std::int64_t stride) {
    ROOFTILE_LT(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                           static_cast<std::uint64_t>(columns), leading));
    if (p.batches == 1) return {};
    const auto batches = static_cast<int>(p.batches);
    ROOFTILE_LT(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches,
                                                 sizeof(batches)));
    return checked(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                    &stride, sizeof(stride)),
                   "cublasLtMatrixLayoutSetAttribute");
  }
  Status run(const AnyCall& call, const cublasLtMatmulAlgo_t& algorithm) const {
    const Problem p = gemm_plan::problem_of(call.args.as<GemmArgs>());
    const auto alpha = static_cast<float>(p.alpha);
    const auto beta = static_cast<float>(p.beta);
    // The bias's place belongs to the description, not to the call.
    if (p.bias_data != nullptr)
      ROOFTILE_LT(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.bias_data,
                                                 sizeof(p.bias_data)));
    return checked(cublasLtMatmul(handle_, operation_, &alpha, p.b_data, b_, p.a_data, a_, &beta, p.out_data,
                                  out_, p.out_data, out_, &algorithm, call.workspace.data, kWorkspaceBytes,
                                  static_cast<cudaStream_t>(call.stream.handle)),
                   "cublasLtMatmul");
  }
  // The fastest of three launches behind one that is not counted.
  Status time(const AnyCall& call, const cublasLtMatmulAlgo_t& algorithm, double& least) const {
    ROOFTILE_TRY(run(call, algorithm));
    auto* stream = static_cast<cudaStream_t>(call.stream.handle);
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    if (cudaEventCreate(&begin) != cudaSuccess) return internal_error("cudaEventCreate failed");
    if (cudaEventCreate(&end) != cudaSuccess) {
      cudaEventDestroy(begin);
      return internal_error("cudaEventCreate failed");
    }
    Status status;
    for (int i = 0; i < 3 && status.ok(); ++i) {
      float milliseconds = 0;
      cudaEventRecord(begin, stream);
      status = run(call, algorithm);
      cudaEventRecord(end, stream);
      if (cudaEventSynchronize(end) != cudaSuccess ||
          cudaEventElapsedTime(&milliseconds, begin, end) != cudaSuccess)
        status = internal_error("cuBLASLt's product failed on the device");
      if (i == 0 || milliseconds < least) least = milliseconds;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return status;
  }

  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr;
  cublasLtMatrixLayout_t b_ = nullptr;
  cublasLtMatrixLayout_t out_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

Result<std::shared_ptr<Product>> chosen_product(const AnyCall& call) {
  ROOFTILE_TRY_ASSIGN(std::shared_ptr<Product> product, Product::create(call.args.as<GemmArgs>()));
  ROOFTILE_TRY(product->choose(call));
  return product;
}

std::string version() {
  const std::size_t number = cublasLtGetVersion();  // 130100
  return "cuBLASLt " + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100) + ", the fastest of up to 8 algorithms";
}

}  // namespace

void register_gemm_peers_cublaslt(Registry& registry) {
  PeerRow row = describe_peer<GemmArgs>("gemm", "cublaslt", version(), nullptr, supports, plan);
  row.launch = [](const AnyCall& call) -> Status {
    ROOFTILE_TRY_ASSIGN(const std::shared_ptr<Product> product, chosen_product(call));
    return product->run(call);
  };
  row.prepare = [](const AnyCall& call) -> Result<LaunchFn> {
    ROOFTILE_TRY_ASSIGN(const std::shared_ptr<Product> product, chosen_product(call));
    return LaunchFn([product](const AnyCall& each) { return product->run(each); });
  };
  registry.add(std::move(row));
}

}  // namespace rooftile
