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

// What the model knows of an H200, per multiprocessor; measured with tools/gpu_record's ladders (README.md).
struct Rates {
  double step_cycles;   // of a tile's step, where nothing else runs on the multiprocessor
  double busy_cycles;   // of a tile's step for the multiprocessor, which several blocks share
  double start_cycles;  // of a block: its first steps, its results
  double part_cycles;   // of a part of a tile: to memory, or back
};
constexpr double kCombineCycles = 6000;  // of a kernel that adds up parts
constexpr std::int64_t kMostParts = 4;   // that the last block of a tile adds up

Rates rates_of(const TileShape& tile, std::size_t element) {
  constexpr double kLanes = 128;       // fused multiply-adds of f32 in a cycle; of f64 half as many
  constexpr double kEfficiency = 0.9;  // of the cycles that multiply-adds take
  constexpr double kAlone = 1.6;       // a warp alone on its scheduler waits for its loads in between
  const double products = static_cast<double>(tile.rows()) * tile.columns() * kDepth;
  const double lanes = element == 8 ? kLanes / 2 : kLanes;
  const double busy = products / lanes / kEfficiency;
  const double share = std::min(1.0, tile.threads() / 128.0);
  const double bytes = static_cast<double>(tile.rows()) * tile.columns() * static_cast<double>(element);
  return {.step_cycles = busy / share * kAlone,
          .busy_cycles = busy,
          .start_cycles = 2500,
          .part_cycles = 1000 + bytes / 32.0};
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
    return resident == 0
               ? 0.0
               : rates.start_cycles + steps * std::max(rates.step_cycles, resident * rates.busy_cycles);
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

// The last `split` tiles' steps are a whole number of rounds short: they are divided among all blocks that the device holds.
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
    const std::int64_t parts = ceil_div(units, split) + (units % split == 0 ? 0 : 1);
    schedule.combines = parts > kMostParts;
    cycles += cycles_of(rates, tile, units, steps, device) + rates.part_cycles;
    cycles += schedule.combines ? kCombineCycles : rates.part_cycles * static_cast<double>(parts);
  }
  schedule.microseconds = microseconds_of(cycles);
  return schedule;
}

// A unit has at least this many steps, or its start costs more than it computes.
constexpr std::int64_t kLeastSteps = 8;

std::int64_t units_for(const Schedule& schedule, const TileShape& tile, std::int64_t split,
                       const DeviceProperties& device) {
  const std::int64_t resident = std::int64_t{device.multiprocessors} * tile.blocks;
  const std::int64_t most = split * larger(1, schedule.steps / kLeastSteps);
  return clamped(resident, 1, most);
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
  const std::int64_t parts = clamped(std::int64_t{device.multiprocessors} * tile_shape(element, false).blocks / larger(count, 1),
                                     1, larger(1, tiles.steps / kLeastSteps));
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
    // All of them, or what whole rounds of the device leave, or that and a round more.
    const std::int64_t resident = std::int64_t{device.multiprocessors} * shape.blocks;
    for (const std::int64_t split : {smaller(count, resident), count % resident, count % resident + resident}) {
      if (split == 0 || split > count) continue;
      offer(cut(problem, element, device, is_small, split, units_for(tiles, shape, split, device)));
    }
  }
  return best;
}

}  // namespace rooftile::gemm_plan
