#include "rooftile/ops/gemm/gemm_tensor.h"

#include <array>
#include <cstdio>
#include <iterator>

#include "rooftile/core/integers.h"

namespace rooftile::gemm_plan {
namespace {

constexpr std::size_t kElement = 2;
constexpr std::int64_t kLine =
    128 / kElement;  // of L2: what TMA reads of a row at once is one, or parts of two

WgmmaOperand operand_of(const void* data, std::int64_t outers, std::int64_t outer, std::int64_t lines,
                        std::int64_t line, std::int64_t batches, std::int64_t batch) {
  WgmmaOperand operand{.outers = outers,
                       .lines = lines,
                       .outer = outer,
                       .line = line,
                       .batch = batch,
                       .batches = batch == 0 ? 1 : batches};
  const Matrix along{.batch = batch, .row = outer, .column = line};
  const Matrix across{.batch = batch, .row = line, .column = outer};
  // TMA wants strides above 0, and of a row that is alone a multiple of 16 bytes, too.
  const bool rows_are_apart = outer > 0 && line > 0 && (batches == 1 || batch >= 0);
  if (rows_are_apart && has_vectors(data, along, outers, lines, kElement)) {
    if (outers == 1) operand.outer = ceil_div(lines, kLine) * kLine;
    return operand;
  }
  operand.along = !(rows_are_apart && has_vectors(data, across, lines, outers, kElement));
  if (!operand.along) {
    if (lines == 1) operand.line = ceil_div(outers, kLine) * kLine;
    return operand;
  }
  // A copy keeps what runs along memory.
  operand.is_copied = true;
  operand.along = line == 1 || outer != 1;
  const std::int64_t pitch = ceil_div(operand.along ? lines : outers, kLine) * kLine;
  operand.outer = operand.along ? pitch : 1;
  operand.line = operand.along ? 1 : pitch;
  operand.batch = pitch * (operand.along ? outers : lines);
  operand.bytes = static_cast<std::size_t>(ceil_div(operand.batch * operand.batches, 64) * 64) * kElement;
  return operand;
}

bool is_of_lines(const WgmmaOperand& x) { return (x.along ? x.outer : x.line) % kLine == 0; }

}  // namespace

WgmmaOperands wgmma_operands(const Problem& p) {
  return {.a = operand_of(p.a_data, p.m, p.a.row, p.k, p.a.column, p.batches, p.a.batch),
          .b = operand_of(p.b_data, p.n, p.b.column, p.k, p.b.row, p.batches, p.b.batch)};
}

MmaCut mma_cut(const Problem& problem) {
  return {.batches = problem.batches,
          .tile_rows = ceil_div(problem.m, MmaTile::kRows),
          .tile_columns = ceil_div(problem.n, MmaTile::kColumns),
          .steps = ceil_div(problem.k, MmaTile::kDepth)};
}

WgmmaCut wgmma_cut(const Problem& problem, int shape, int cluster, const DeviceProperties& device) {
  const WgmmaShape tile = kWgmmaShapes[shape];
  WgmmaCut cut{.shape = shape,
               .cluster = cluster,
               .steps = static_cast<int>(ceil_div(problem.k, kWgmmaDepth)),
               .batches = problem.batches,
               .tile_rows = ceil_div(problem.m, std::int64_t{tile.rows} * cluster),
               .tile_columns = ceil_div(problem.n, tile.columns)};
  const std::int64_t clusters =
      clamped(cut.tiles(), 1, std::int64_t{device.multiprocessors} * tile.blocks / cluster);
  cut.blocks = clusters * cluster;
  // Of an H100, in cycles at 1755 MHz, measured: a step of a tile where all multiprocessors are busy, a tile's start and results, and what
  // every launch takes.
  constexpr double kCyclesPerMicrosecond = 1755;
  constexpr double kOfStep[] = {1088, 772, 545, 333, 281};
  constexpr double kOfTile[] = {3660, 2870, 2220, 1465, 974};
  constexpr double kLaunch = 3800;
  // Where rows do not begin at multiples of 128 bytes, a line of a tile lies in two lines of L2.
  constexpr double kOfTwoLines[] = {1.05, 1.19, 1.25, 2.4, 2.2};
  constexpr double kOfCrowd = 1.8;  // blocks that share a multiprocessor
  const WgmmaOperands operands = wgmma_operands(problem);
  double of_step = kOfStep[shape];
  if (!is_of_lines(operands.a) || !is_of_lines(operands.b)) of_step *= kOfTwoLines[shape];
  if (cut.blocks > device.multiprocessors) of_step *= kOfCrowd;
  const auto rounds = static_cast<double>(ceil_div(cut.tiles(), clusters));
  const double cycles = kLaunch + rounds * (kOfTile[shape] + cut.steps * of_step);
  cut.microseconds = cycles / kCyclesPerMicrosecond;
  // What runs long has the clock that its power allows, and narrow tiles take more of that: 4096 x 14336 x 4096 is 0.94 of cuBLAS by
  // 192 columns, and was 0.98 by 256.
  constexpr double kLong = 150;  // microseconds
  constexpr double kOfPower[] = {1, 1.08, 1.12, 1.2, 1.2};
  if (cut.microseconds > kLong) cut.microseconds *= kOfPower[shape];
  return cut;
}

WgmmaCut fastest_wgmma(const Problem& problem, int shapes, int cluster, const DeviceProperties& device) {
  WgmmaCut best = wgmma_cut(problem, 0, cluster, device);
  for (int shape = 1; shape < shapes; ++shape) {
    const WgmmaCut cut = wgmma_cut(problem, shape, cluster, device);
    if (cut.microseconds < best.microseconds) best = cut;
  }
  return best;
}

PartsCut parts_cut(const Problem& problem, int shape, int log_parts, const DeviceProperties& device) {
  const PartShape tile = kPartShapes[shape];
  PartsCut cut{.shape = shape,
               .log_parts = log_parts < tile.log_parts ? log_parts : tile.log_parts,
               .steps = static_cast<int>(ceil_div(problem.k, kPartDepth)),
               .batches = problem.batches,
               .tile_rows = ceil_div(problem.m, kPartRows),
               .tile_columns = ceil_div(problem.n, tile.columns)};
  while (cut.log_parts > 0 && 1 << cut.log_parts > cut.steps) --cut.log_parts;
  // Of an H100, measured: launch; a block's start and results; its steps; sums that are sent; results that are more than the sums.
  constexpr double kLaunch = 0.5;
  constexpr double kOfTile[] = {2.4, 1.9, 1.8};
  constexpr double kOfStep[] = {0.228, 0.195, 0.21};
  constexpr double kOfSums[] = {0, 1.6, 0.8};
  constexpr double kOfMore = 0.6;
  constexpr double kOfTwoLines = 2.2;
  const WgmmaOperands operands = wgmma_operands(problem);
  const bool is_slow = !is_of_lines(operands.a) || !is_of_lines(operands.b);
  const bool gives_more = problem.c_data != nullptr || problem.bias_data != nullptr ||
                          problem.activation != GemmActivation::none || problem.n % 8 != 0 ||
                          problem.out.column != 1;
  const auto steps = static_cast<double>(ceil_div(std::int64_t{cut.steps}, std::int64_t{1} << cut.log_parts));
  const auto rounds = static_cast<double>(ceil_div(cut.tiles(), std::int64_t{device.multiprocessors}));
  cut.microseconds =
      kLaunch + rounds * (kOfTile[shape] + steps * kOfStep[shape] * (is_slow ? kOfTwoLines : 1) +
                          (cut.log_parts > 0 ? kOfSums[shape] : 0) + (gives_more ? kOfMore : 0));
  return cut;
}

PartsCut fastest_parts(const Problem& problem, const DeviceProperties& device) {
  PartsCut best = parts_cut(problem, 0, 0, device);
  for (int shape = 0; shape < static_cast<int>(std::size(kPartShapes)); ++shape) {
    for (int log_parts = 0; log_parts <= kPartShapes[shape].log_parts; ++log_parts) {
      const PartsCut cut = parts_cut(problem, shape, log_parts, device);
      if (cut.microseconds < best.microseconds) best = cut;
    }
  }
  return best;
}

std::string explain_wgmma(const Problem& problem, const DeviceProperties& device) {
  std::array<char, 200> line;
  std::string text;
  const auto add = [&](auto... values) {
    (void)std::snprintf(line.data(), line.size(), values...);
    text += line.data();
  };
  const WgmmaOperands operands = wgmma_operands(problem);
  const auto way = [](const WgmmaOperand& x) { return x.along ? "along k" : "across k"; };
  add("a lies %s%s, b %s%s\n", way(operands.a), operands.a.is_copied ? " (copied first)" : "",
      way(operands.b), operands.b.is_copied ? " (copied first)" : "");
  const auto describe = [&](const char* title, const WgmmaCut& cut) {
    const WgmmaShape& tile = kWgmmaShapes[cut.shape];
    add("%s %d x %d: %lld of %d steps of %d, %.2f rounds of %d blocks on each multiprocessor: %.1f us\n",
        title, tile.rows, tile.columns, static_cast<long long>(cut.tiles()), cut.steps, kWgmmaDepth,
        static_cast<double>(cut.tiles()) / (device.multiprocessors * tile.blocks), tile.blocks,
        cut.microseconds);
  };
  constexpr int kShapes = std::size(kWgmmaShapes);
  for (int shape = 0; shape < kShapes; ++shape) describe("tiles of", wgmma_cut(problem, shape, 1, device));
  describe("fastest: tiles of", fastest_wgmma(problem, kShapes, 1, device));
  const PartsCut parts = fastest_parts(problem, device);
  add("cluster_split_k: tiles of %d x %d in %d parts, %lld blocks, %d steps of %d: %.1f us\n", kPartRows,
      kPartShapes[parts.shape].columns, 1 << parts.log_parts, static_cast<long long>(parts.tiles()),
      parts.steps, kPartDepth, parts.microseconds);
  return text;
}

}  // namespace rooftile::gemm_plan
