#include "rooftile/ops/gemm/gemm_plan.h"

#include <utility>

#include "rooftile/core/operator.h"

namespace rooftile::gemm_plan {
namespace {

// Strides along an axis of extent 1 do not count: as if there were one element after the other.
Matrix matrix_of(const ConstTensorView& view, bool is_transposed) {
  const int row = view.rank() - 2 + (is_transposed ? 1 : 0);
  const int column = view.rank() - 1 - (is_transposed ? 1 : 0);
  Matrix matrix{.row = view.strides[row], .column = view.strides[column]};
  if (view.shape[column] == 1) matrix.column = 1;
  if (view.rank() == 3 && view.shape[0] > 1) matrix.batch = view.strides[0];
  return matrix;
}

Matrix transposed(Matrix matrix) {
  std::swap(matrix.row, matrix.column);
  return matrix;
}

// The transposed product.
Problem turned_round(Problem problem) {
  std::swap(problem.m, problem.n);
  std::swap(problem.a_data, problem.b_data);
  const Matrix a = problem.a;
  problem.a = transposed(problem.b);
  problem.b = transposed(a);
  problem.c = transposed(problem.c);
  problem.bias = transposed(problem.bias);
  problem.out = transposed(problem.out);
  return problem;
}

}  // namespace

Problem problem_of(const GemmArgs& args) {
  Problem problem;
  problem.a_data = args.a.data;
  problem.b_data = args.b.data;
  problem.out_data = args.out.data;
  problem.a = matrix_of(args.a, args.transpose_a);
  problem.b = matrix_of(args.b, args.transpose_b);
  problem.out = matrix_of(args.out, false);
  problem.alpha = args.alpha;
  problem.beta = args.beta;
  problem.activation = args.activation;
  const int rank = args.out.rank();
  problem.batches = rank == 3 ? args.out.shape[0] : 1;
  problem.m = args.out.shape[rank - 2];
  problem.n = args.out.shape[rank - 1];
  problem.k = args.alpha == 0 ? 0 : args.a.shape[args.a.rank() - (args.transpose_a ? 2 : 1)];
  if (!is_absent(args.c) && args.beta != 0) {
    problem.c_data = args.c.data;
    problem.c = matrix_of(args.c, false);
  } else {
    problem.beta = 0;
  }
  if (!is_absent(args.bias)) {
    problem.bias_data = args.bias.data;
    problem.bias.column = args.bias.strides[0];
  }
  const bool is_column_major = args.out.strides[rank - 2] == 1 && args.out.strides[rank - 1] != 1;
  if (!is_column_major || problem.n == 1) return problem;
  return turned_round(problem);
}

bool has_vectors(const void* data, const Matrix& matrix, std::int64_t steps, std::int64_t n,
                 std::size_t element) {
  const auto vector = static_cast<std::int64_t>(kVectorBytes / element);
  return matrix.column == 1 && n % vector == 0 && (steps == 1 || matrix.row % vector == 0) &&
         matrix.batch % vector == 0 && reinterpret_cast<std::uintptr_t>(data) % kVectorBytes == 0;
}

CopyWays copy_ways(const Problem& p, std::size_t element) {
  const auto way_of = [&](const void* data, const Matrix& matrix, std::int64_t outer) {  // matrix: [k][outer]
    if (has_vectors(data, matrix, p.k, outer, element)) return CopyWay::along;
    if (has_vectors(data, transposed(matrix), outer, p.k, element)) return CopyWay::turned;
    return CopyWay::single;
  };
  const CopyWays ways{.a = way_of(p.a_data, transposed(p.a), p.m), .b = way_of(p.b_data, p.b, p.n)};
  if (ways.a == CopyWay::single || ways.b == CopyWay::single) return {};
  return ways;
}

Problem skinny_problem_of(const GemmArgs& args) {
  const Problem problem = problem_of(args);
  return problem.n < problem.m ? turned_round(problem) : problem;
}

SkinnyCut skinny_cut(const Problem& p, const DeviceProperties& device) {
  constexpr std::int64_t kLines = 128;  // that a block takes at a time
  constexpr std::int64_t kBlocks = 4;   // wanted on a multiprocessor
  SkinnyCut cut{.by_lines = p.b.column == 1 || p.b.row != 1};
  cut.has_vectors = cut.by_lines ? has_vectors(p.b_data, p.b, p.k, p.n, sizeof(float))
                                 : has_vectors(p.b_data, transposed(p.b), p.n, p.k, sizeof(float));
  cut.strips = ceil_div(p.n, cut.by_lines ? 128 : 32);
  const std::int64_t steps = larger(1, ceil_div(p.k, kLines));
  const std::int64_t parts =
      clamped(kBlocks * device.multiprocessors / larger(1, cut.strips * p.batches), 1, ceil_div(steps, 2));
  cut.lines = ceil_div(steps, parts) * kLines;
  cut.parts = larger(1, ceil_div(p.k, cut.lines));
  return cut;
}

PersistentCut persistent_cut(const Problem& problem, const DeviceProperties& device) {
  PersistentCut cut{.side = problem.m <= 32 && problem.n <= 32 ? 32 : 64};
  cut.tile_rows = ceil_div(problem.m, cut.side);
  cut.tile_columns = ceil_div(problem.n, cut.side);
  cut.tiles = problem.batches * cut.tile_rows * cut.tile_columns;
  cut.blocks = clamped(cut.tiles, 1, std::int64_t{device.multiprocessors} * persistent_blocks(cut.side));
  cut.steps = static_cast<int>(larger(1, ceil_div(problem.k, kPersistentDepth)));
  return cut;
}

HostCut host_cut(const Problem& problem, const DeviceProperties& device) {
  const std::int64_t blocks =
      problem.batches * ceil_div(problem.m, HostBlock::kRows) * ceil_div(problem.n, HostBlock::kColumns);
  return {.slots = static_cast<int>(clamped(device.multiprocessors, 1, larger(blocks, 1)))};
}

}  // namespace rooftile::gemm_plan
