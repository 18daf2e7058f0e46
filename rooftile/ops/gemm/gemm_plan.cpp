#include "rooftile/ops/gemm/gemm_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
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

// What the model knows, in cycles of a multiprocessor. Measured on an H200: of a large f32 tile's step, 1024 cycles of multiply-adds,
// 1403 where two blocks share the multiprocessor and 1823 where one is alone.
struct Rates {
  double step;   // of a tile, where nothing else runs on its schedulers
  double busy;   // of a tile's step, where several blocks share the multiprocessor
  double start;  // of a block: its first steps, its results
};

Rates rates_of(const TileShape& tile, std::size_t element) {
  constexpr double kLanes = 128;        // multiply-adds of f32 in a cycle; of f64 half as many
  constexpr double kEfficiency = 0.73;  // of the cycles that multiply-adds take
  constexpr double kAlone = 1.3;        // a warp alone on its scheduler waits for its loads in between
  const double products = static_cast<double>(tile.rows()) * tile.columns() * kDepth;
  const double busy = products / (element == 8 ? kLanes / 2 : kLanes) / kEfficiency;
  const double share = std::min(1.0, tile.threads() / 128.0);
  return {.step = busy / share * kAlone, .busy = busy, .start = 4000};
}

// A second kernel, and the parts' way to memory and back.
double combine_cycles(const TileShape& tile, std::size_t element, std::int64_t units) {
  constexpr double kLaunch = 4500;
  constexpr double kBytesPerCycle = 1500;
  const double bytes = static_cast<double>(tile.rows()) * tile.columns() * static_cast<double>(element);
  return kLaunch + 2 * bytes * static_cast<double>(units) / kBytesPerCycle;
}

double microseconds_of(double cycles) {
  constexpr double kCyclesPerMicrosecond = 1755;
  constexpr double kLaunch = 2.0;
  return kLaunch + cycles / kCyclesPerMicrosecond;
}

// Cycles of `blocks` equal blocks of so many steps: a multiprocessor has as many of them at once as it holds.
double cycles_of(const Rates& rates, const TileShape& tile, std::int64_t blocks, double steps,
                 const DeviceProperties& device) {
  if (blocks == 0) return 0;
  const double on_one = std::ceil(static_cast<double>(blocks) / device.multiprocessors);
  const double full = std::floor(on_one / tile.blocks);
  const double rest = on_one - full * tile.blocks;
  const auto round = [&](double resident) {
    return resident == 0 ? 0.0 : rates.start + steps * std::max(rates.step, resident * rates.busy);
  };
  return full * round(tile.blocks) + round(rest);
}

Schedule tiles_of(const Problem& problem, std::size_t element, bool is_small) {
  const TileShape tile = tile_shape(element, is_small);
  return {.is_small = is_small,
          .tile_rows = ceil_div(problem.m, tile.rows()),
          .tile_columns = ceil_div(problem.n, tile.columns()),
          .steps = larger(1, ceil_div(problem.k, kDepth))};
}
std::int64_t count_of(const Problem& problem, const Schedule& schedule) {
  return problem.batches * schedule.tile_rows * schedule.tile_columns;
}

// The first `split` tiles' steps divided among `units` blocks, every other tile a block's own.
Schedule cut(const Problem& problem, std::size_t element, const DeviceProperties& device, bool is_small,
             std::int64_t split, std::int64_t units) {
  Schedule schedule = tiles_of(problem, element, is_small);
  const TileShape tile = tile_shape(element, is_small);
  const Rates rates = rates_of(tile, element);
  const std::int64_t tiles = count_of(problem, schedule);
  schedule.split_tiles = split;
  schedule.units = split == 0 ? 0 : units;
  schedule.whole_tiles = tiles - split;
  double cycles = cycles_of(rates, tile, schedule.whole_tiles, static_cast<double>(schedule.steps), device);
  if (split > 0) {
    const double steps = static_cast<double>(split * schedule.steps) / static_cast<double>(units);
    cycles += cycles_of(rates, tile, units, steps, device) + combine_cycles(tile, element, units);
  }
  schedule.microseconds = microseconds_of(cycles);
  return schedule;
}

// A unit has at least this many steps, or its start costs more than it computes.
constexpr std::int64_t kLeastSteps = 4;

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

bool has_vectors(const void* data, const Matrix& matrix, std::int64_t steps, std::int64_t n,
                 std::size_t element) {
  const auto vector = static_cast<std::int64_t>(kVectorBytes / element);
  return matrix.column == 1 && n % vector == 0 && (steps == 1 || matrix.row % vector == 0) &&
         matrix.batch % vector == 0 && reinterpret_cast<std::uintptr_t>(data) % kVectorBytes == 0;
}

Schedule whole_tiles(const Problem& problem, std::size_t element, bool is_small) {
  Schedule schedule = tiles_of(problem, element, is_small);
  schedule.whole_tiles = count_of(problem, schedule);
  return schedule;
}

Schedule split_tiles(const Problem& problem, std::size_t element, const DeviceProperties& device) {
  const Schedule tiles = tiles_of(problem, element, false);
  const std::int64_t count = count_of(problem, tiles);
  const std::int64_t parts =
      clamped(std::int64_t{device.multiprocessors} * tile_shape(element, false).blocks / larger(count, 1), 1,
              larger(1, tiles.steps / kLeastSteps));
  return cut(problem, element, device, false, count, count * parts);
}

Schedule fastest(const Problem& problem, std::size_t element, const DeviceProperties& device) {
  Schedule best;
  best.microseconds = -1;
  const auto offer = [&](const Schedule& schedule) {
    if (best.microseconds < 0 || schedule.microseconds < best.microseconds) best = schedule;
  };
  for (const bool is_small : {false, true}) {
    const Schedule tiles = tiles_of(problem, element, is_small);
    const std::int64_t count = count_of(problem, tiles);
    const TileShape shape = tile_shape(element, is_small);
    offer(cut(problem, element, device, is_small, 0, 0));
    // All of them, or what whole rounds of the device leave, or that and a round more; by as many units as the device holds, or
    // a half, a quarter ... of them.
    const std::int64_t resident = std::int64_t{device.multiprocessors} * shape.blocks;
    for (const std::int64_t split :
         {smaller(count, resident), count % resident, count % resident + resident}) {
      if (split == 0 || split > count) continue;
      const std::int64_t most = smaller(resident, split * larger(1, tiles.steps / kLeastSteps));
      for (std::int64_t units = most; units > 0 && units >= most / 8; units /= 2)
        offer(cut(problem, element, device, is_small, split, units));
    }
  }
  return best;
}

HostCut host_cut(const Problem& problem, const DeviceProperties& device) {
  const std::int64_t blocks =
      problem.batches * ceil_div(problem.m, HostBlock::kRows) * ceil_div(problem.n, HostBlock::kColumns);
  return {.slots = static_cast<int>(clamped(device.multiprocessors, 1, larger(blocks, 1)))};
}

}  // namespace rooftile::gemm_plan
