#include "rooftile/ops/gemm/gemm_tensor.h"

#include <algorithm>
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

// Lines of L2 for each 128 bytes of a row that TMA reads: two where rows begin anywhere, and what two were measured to cost where they begin
// with a sector of 32 bytes.
double lines_of(const WgmmaOperand& x) {
  constexpr std::int64_t kSector = 32 / kElement;
  const std::int64_t row = x.along ? x.outer : x.line;
  return row % kLine == 0 ? 1 : row % kSector == 0 ? 4.0 / 3 : 2;
}
bool is_of_lines(const WgmmaOperand& x) { return (x.along ? x.outer : x.line) % kLine == 0; }

// Of an H100, measured, in cycles at 1755 MHz: what every launch takes, and a tile's start and results by the shape.
constexpr double kCyclesPerMicrosecond = 1755;
constexpr double kLaunchCycles = 3800;
constexpr double kTileCycles[] = {3660, 2870, 2220, 1465, 974, 1850, 2500, 2600, 1550, 1950};
constexpr double kL2LinesPerCycle = 64;  // of all multiprocessors together

double microseconds_of(double cycles, int shape) {
  const double microseconds = cycles / kCyclesPerMicrosecond;
  // What runs long has the clock that its power allows, and narrow tiles take more of that: 4096 x 14336 x 4096 is 0.94 of cuBLAS by
  // 192 columns, and was 0.98 by 256.
  constexpr double kLong = 150;
  constexpr double kOfPower[] = {1, 1.08, 1.12, 1.2, 1.2, 1.16, 1.11, 1.1, 1.2, 1.14};
  return microseconds > kLong ? microseconds * kOfPower[shape] : microseconds;
}

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

namespace {

// All but the time. clusters: that the device holds at once.
WgmmaCut cut_of(const Problem& problem, const WgmmaCluster& cluster, std::int64_t clusters) {
  const WgmmaShape tile = kWgmmaShapes[cluster.shape];
  WgmmaCut cut{.shape = cluster.shape,
               .log_down = cluster.log_down,
               .log_across = cluster.log_across,
               .steps = static_cast<int>(ceil_div(problem.k, kWgmmaDepth)),
               .batches = problem.batches,
               .tile_rows = ceil_div(problem.m, std::int64_t{tile.rows} << cluster.log_down),
               .tile_columns = ceil_div(problem.n, std::int64_t{tile.columns} << cluster.log_across)};
  cut.blocks = clamped(cut.tiles(), 1, clusters) << (cluster.log_down + cluster.log_across);
  return cut;
}

}  // namespace

WgmmaCut wgmma_cut(const Problem& problem, int shape, const DeviceProperties& device) {
  const WgmmaShape tile = kWgmmaShapes[shape];
  WgmmaCut cut = cut_of(problem, {.shape = shape, .log_down = 0, .log_across = 0},
                        std::int64_t{device.multiprocessors} * tile.blocks);
  // A step of a tile, and what L2 gives a multiprocessor, and all of them.
  constexpr double kOfStep[] = {1088, 772, 545, 333, 281, 416, 610, 680, 352, 480};
  constexpr double kCyclesOfLine = 1.3;
  constexpr double kOfCrowd = 1.8;  // blocks that share a multiprocessor
  const WgmmaOperands operands = wgmma_operands(problem);
  const double lines = tile.rows * lines_of(operands.a) + tile.columns * lines_of(operands.b);
  double of_step = std::max(kOfStep[shape], kCyclesOfLine * lines);
  if (cut.blocks > device.multiprocessors) of_step *= kOfCrowd;
  of_step = std::max(of_step, static_cast<double>(cut.blocks) * lines / kL2LinesPerCycle);
  const auto rounds = static_cast<double>(ceil_div(cut.tiles(), cut.blocks));
  cut.microseconds =
      microseconds_of(kLaunchCycles + rounds * (kTileCycles[shape] + cut.steps * of_step), shape);
  return cut;
}

WgmmaCut multicast_cut(const Problem& problem, const WgmmaCluster& cluster, const DeviceProperties& device) {
  const WgmmaShape tile = kWgmmaShapes[cluster.shape];
  // Clusters do not fill every part of the device: of an H100's 132 multiprocessors 120 with clusters of 4 and 8, which hold whole numbers of
  // them side by side.
  const int blocks = 1 << (cluster.log_down + cluster.log_across);
  const std::int64_t clusters =
      blocks == 2 ? device.multiprocessors / 2 : std::int64_t{device.multiprocessors} * 10 / 11 / blocks;
  WgmmaCut cut = cut_of(problem, cluster, clusters);
  constexpr double kOfCluster = 630;                                                  // its start
  constexpr double kOfColumn = 4.28;                                                  // wgmma
  const auto of_row = [](const WgmmaOperand& x) { return 1.2 + 0.6 * lines_of(x); };  // that arrives
  const WgmmaOperands operands = wgmma_operands(problem);
  const double arrives = tile.rows * of_row(operands.a) + tile.columns * of_row(operands.b);
  const double lines = tile.rows * lines_of(operands.a) / (1 << cluster.log_across) +
                       tile.columns * lines_of(operands.b) / (1 << cluster.log_down);
  const double of_step = std::max(
      {kOfColumn * tile.columns, arrives, static_cast<double>(cut.blocks) * lines / kL2LinesPerCycle});
  const auto rounds = static_cast<double>(ceil_div(cut.tiles(), cut.blocks / blocks));
  cut.microseconds = microseconds_of(
      kLaunchCycles + kOfCluster + rounds * (kTileCycles[cluster.shape] + cut.steps * of_step),
      cluster.shape);
  return cut;
}

WgmmaCut fastest_wgmma(const Problem& problem, const DeviceProperties& device) {
  const bool along_b = wgmma_operands(problem).b.along;
  WgmmaCut best = wgmma_cut(problem, 0, device);
  for (int shape = 1; shape < kRingShapes; ++shape) {
    if (!has_wgmma_columns(shape, along_b)) continue;
    const WgmmaCut cut = wgmma_cut(problem, shape, device);
    if (cut.microseconds < best.microseconds) best = cut;
  }
  return best;
}

WgmmaCut fastest_multicast(const Problem& problem, const DeviceProperties& device) {
  const bool along_b = wgmma_operands(problem).b.along;
  WgmmaCut best = multicast_cut(problem, kWgmmaClusters[0], device);
  for (const WgmmaCluster& cluster : kWgmmaClusters) {
    if (!has_wgmma_columns(cluster.shape, along_b)) continue;
    const WgmmaCut cut = multicast_cut(problem, cluster, device);
    // Small tiles of more than one round were not measured.
    if (cut.tiles() > cut.blocks >> (cut.log_down + cut.log_across)) continue;
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
  constexpr double kOfTile[] = {2.4, 1.9, 1.8, 2.45, 3.0};
  constexpr double kOfStep[] = {0.228, 0.195, 0.21, 0.285, 0.265};
  constexpr double kOfSums[] = {0, 1.6, 0.8, 0, 0};
  constexpr double kOfLines = 1.0 / 72 / 1755;  // of L2, for all multiprocessors
  constexpr double kOfMore = 0.6;
  constexpr double kOfTwoLines = 2.2;
  const WgmmaOperands operands = wgmma_operands(problem);
  const bool is_slow = !is_of_lines(operands.a) || !is_of_lines(operands.b);
  const bool gives_more = problem.c_data != nullptr || problem.bias_data != nullptr ||
                          problem.activation != GemmActivation::none || problem.n % 8 != 0 ||
                          problem.out.column != 1;
  const auto steps = static_cast<double>(ceil_div(std::int64_t{cut.steps}, std::int64_t{1} << cut.log_parts));
  const auto rounds = static_cast<double>(ceil_div(cut.tiles(), std::int64_t{device.multiprocessors}));
  const auto at_once = static_cast<double>(smaller(cut.tiles(), std::int64_t{device.multiprocessors}));
  const double of_step =
      std::max(kOfStep[shape], kOfLines * at_once * 2 * static_cast<double>(kPartRows + tile.columns));
  cut.microseconds =
      kLaunch + rounds * (kOfTile[shape] + steps * of_step * (is_slow ? kOfTwoLines : 1) +
                          (cut.log_parts > 0 ? kOfSums[shape] : 0) + (gives_more ? kOfMore : 0));
  return cut;
}

PartsCut fastest_parts(const Problem& problem, const DeviceProperties& device) {
  const bool along_b = wgmma_operands(problem).b.along;
  PartsCut best = parts_cut(problem, 0, 0, device);
  for (int shape = 0; shape < static_cast<int>(std::size(kPartShapes)); ++shape) {
    if (!has_part_columns(shape, along_b)) continue;
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
  for (int shape = 0; shape < kRingShapes; ++shape)
    if (has_wgmma_columns(shape, operands.b.along)) describe("tiles of", wgmma_cut(problem, shape, device));
  describe("warp_specialized: tiles of", fastest_wgmma(problem, device));
  const WgmmaCut multicast = fastest_multicast(problem, device);
  add("cluster_multicast: %lld clusters of %d x %d tiles of %d x %d: %.1f us\n",
      static_cast<long long>(multicast.tiles()), 1 << multicast.log_down, 1 << multicast.log_across,
      kWgmmaShapes[multicast.shape].rows, kWgmmaShapes[multicast.shape].columns, multicast.microseconds);
  const PartsCut parts = fastest_parts(problem, device);
  add("cluster_split_k: tiles of %d x %d in %d parts, %lld blocks, %d steps of %d: %.1f us\n", kPartRows,
      kPartShapes[parts.shape].columns, 1 << parts.log_parts, static_cast<long long>(parts.tiles()),
      parts.steps, kPartDepth, parts.microseconds);
  return text;
}

}  // namespace rooftile::gemm_plan
