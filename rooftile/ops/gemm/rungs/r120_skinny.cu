// A few rows, or a few columns.
//
// Idea       out has up to 16 rows (or columns: then the transposed product is computed): a block brings some lines of the few into
//            shared memory, and every thread multiplies what it reads of the other operand with all of them. Nothing is read twice.
// Change     no tile whose rows are mostly not there: the way of the long operand is all the time there is.
// Limits     f32; any strides.
// Bottleneck global memory.
// Source     Ernst, Hager, Thies and Wellein (2021), "Performance engineering for real and complex tall & skinny matrix
//            multiplication kernels on GPUs".
#include "rooftile/ops/gemm/rungs/skinny_product.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

template <int kRows, bool kVectors>
Status launch_rows(const Call<GemmArgs>& call, const Problem& problem) {
  const auto& cut = call.config<SkinnyCut>();
  const std::int64_t blocks = problem.batches * cut.strips * cut.parts;
  const std::int64_t combines = ceil_div(problem.batches * problem.m * problem.n, kSkinnyThreads);
  if (blocks > kMaxGrid || combines > kMaxGrid) return unsupported("more than 2^31 - 1 blocks");
  auto* g_parts = static_cast<float*>(call.workspace.data);
  const LaunchConfig config{
      .grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kSkinnyThreads), .stream = call.stream};
  ROOFTILE_TRY(cut.by_lines ? launch(skinny_lines_kernel<kRows, kVectors>, config, problem, cut, g_parts)
                            : launch(skinny_columns_kernel<kRows, kVectors>, config, problem, cut, g_parts));
  if (cut.parts == 1) return {};
  return launch(
      skinny_combine_kernel,
      {.grid = dim3(static_cast<unsigned>(combines)), .block = dim3(kSkinnyThreads), .stream = call.stream},
      problem, cut, static_cast<const float*>(g_parts));
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::skinny_problem_of(call.args);
  if (problem.is_empty()) return {};
  const bool vectors = call.config<SkinnyCut>().has_vectors;
  if (problem.m <= 4)
    return vectors ? launch_rows<4, true>(call, problem) : launch_rows<4, false>(call, problem);
  return vectors ? launch_rows<16, true>(call, problem) : launch_rows<16, false>(call, problem);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
