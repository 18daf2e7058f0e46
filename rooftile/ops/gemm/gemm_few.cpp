#include "rooftile/ops/gemm/gemm_few.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "rooftile/core/integers.h"

namespace rooftile::gemm_plan {
namespace {

double bytes_of_b(const Problem& few) {
  return 2.0 * static_cast<double>(few.b.batch == 0 ? 1 : few.batches) * static_cast<double>(few.n) *
         static_cast<double>(few.k);
}

// What a rung takes for the way of b, measured on an H100: the mean of launches back to back and of one behind a flush that wrote, as a start
// and bytes in a microsecond.
struct Way {
  double start;
  double rate;
};
constexpr Way kDirectOfOne = {4.2, 3.2e6};
constexpr Way kDirectOf8 = {4.4, 2.95e6};
constexpr Way kDirect = {4.9, 2.88e6};
constexpr Way kSwap = {6.1, 3.05e6};
constexpr Way kSwapOf64 = {7.6, 3.05e6};  // where a's rows are as many as the columns beside them
constexpr Way kParts = {4.9, 2.6e6};
constexpr Way kTiles = {7.5, 2.75e6};
double microseconds_of(const Way& way, const Problem& few) { return way.start + bytes_of_b(few) / way.rate; }

}  // namespace

bool fits_in_l2(const Problem& few, const DeviceProperties& device) {
  return bytes_of_b(few) <= 0.75 * static_cast<double>(device.last_level_cache);
}

int kept_tiles(const Problem& few, const DeviceProperties& device) {
  constexpr double kOfL2 = 1.0 / 8;
  return static_cast<int>(kOfL2 * static_cast<double>(device.last_level_cache) /
                          (2.0 * kSwapColumns * static_cast<double>(larger(1, few.k))));
}

SwapCut swap_cut(const Problem& few, const DeviceProperties& device) {
  SwapCut cut{.rows = few.m <= 8    ? 8
                      : few.m <= 16 ? 16
                      : few.m <= 32 ? 32
                                    : 64,
              .steps = static_cast<int>(larger(1, ceil_div(few.k, kSwapDepth))),
              .batches = few.batches,
              .tile_columns = ceil_div(few.n, kSwapColumns)};
  // As many as every multiprocessor's first block allows; a cluster's way back is worth two steps at least.
  while (cut.parts < kMostSwapParts && 2 * cut.tiles() * cut.parts <= device.multiprocessors &&
         cut.steps >= 4 * cut.parts)
    cut.parts *= 2;
  // As of warp_specialized, measured: in cycles at 1755 MHz, where L2 has b.
  constexpr double kCyclesPerMicrosecond = 1755;
  constexpr double kLaunch =
      7000;  // with what it takes longer than direct_fragments to have the first bytes from memory
  constexpr double kOfTile = 1000;
  constexpr double kOfParts = 2000;  // that meet
  const double of_step = cut.rows == 64 ? 770 : 600;
  const auto steps = static_cast<double>(ceil_div(cut.steps, cut.parts));
  const auto blocks = static_cast<double>(cut.tiles() * cut.parts) / device.multiprocessors;
  const double cycles =
      kLaunch + (cut.parts > 1 ? kOfParts : 0) + (blocks < 1 ? 1 : blocks) * (kOfTile + steps * of_step);
  // Of a cluster's blocks the slowest counts.
  constexpr double kOfSlowest = 0.03;
  const Way& way = cut.rows == 64 ? kSwapOf64 : kSwap;
  const double of_b =
      microseconds_of(way, few) + (cut.parts > 1 ? kOfSlowest * (microseconds_of(way, few) - way.start) : 0);
  cut.microseconds = std::max(cycles / kCyclesPerMicrosecond, of_b);
  return cut;
}

DirectCut direct_cut(const Problem& few) {
  DirectCut cut{.batches = few.batches,
                .tile_columns = ceil_div(few.n, few.m == 1 ? kDirectColumnsOfOne : kDirectColumns)};
  cut.microseconds = microseconds_of(few.m == 1 ? kDirectOfOne : few.m <= 8 ? kDirectOf8 : kDirect, few);
  // A block's four warps have 512 along k each; two columns of less are little for a block.
  constexpr std::int64_t kShort = 2048;
  if (few.m == 1 && few.k < kShort) cut.microseconds += bytes_of_b(few) / 7e6;
  return cut;
}

double microseconds_of_parts(const GemmArgs& args, const DeviceProperties& device) {
  const Problem problem = problem_of(args);
  // Results that go out element by element.
  constexpr double kOfElements = 8;
  const bool has_vectors = problem.n % 8 == 0 && problem.out.column == 1;
  return std::max(fastest_parts(problem, device).microseconds,
                  microseconds_of(kParts, skinny_problem_of(args))) +
         (has_vectors ? 0 : kOfElements);
}

double microseconds_of_tiles(const GemmArgs& args, const DeviceProperties& device) {
  const WgmmaCut cut = fastest_wgmma(problem_of(args), device);
  return std::max(cut.microseconds, microseconds_of(kTiles, skinny_problem_of(args)));
}

std::string explain_few(const GemmArgs& args, const DeviceProperties& device) {
  const Problem few = skinny_problem_of(args);
  if (few.m > kMostSwapRows || few.k < 1) return "";
  std::array<char, 200> line;
  std::string text;
  if (few.m <= kMostDirectRows && has_direct_rows(few)) {
    const DirectCut cut = direct_cut(few);
    (void)std::snprintf(line.data(), line.size(),
                        "dependent_fragments, direct_fragments: %lld tiles of %d columns: %.1f us\n",
                        static_cast<long long>(cut.tiles()),
                        few.m == 1 ? kDirectColumnsOfOne : kDirectColumns, cut.microseconds);
    text += line.data();
  }
  const SwapCut cut = swap_cut(few, device);
  (void)std::snprintf(line.data(), line.size(),
                      "swap_ab: %lld tiles of %d x %d, %d steps of %d in %d parts: %.1f us\n",
                      static_cast<long long>(cut.tiles()), cut.rows, kSwapColumns, cut.steps, kSwapDepth,
                      cut.parts, cut.microseconds);
  text += line.data();
  if (serves_few_as_parts(args)) {
    (void)std::snprintf(line.data(), line.size(), "cluster_split_k, of a few rows: %.1f us\n",
                        microseconds_of_parts(args, device));
    text += line.data();
  }
  const WgmmaShape& tile = kWgmmaShapes[fastest_wgmma(problem_of(args), device).shape];
  (void)std::snprintf(line.data(), line.size(),
                      "warp_specialized, of a few rows: tiles of %d x %d: %.1f us\n", tile.rows, tile.columns,
                      microseconds_of_tiles(args, device));
  return text + line.data();
}

bool serves_few_as_parts(const GemmArgs& args) {
  constexpr std::int64_t kFewest = 17;
  const Problem problem = problem_of(args);
  if (is_turned(problem) || problem.m < kFewest || problem.m > kMostSwapRows) return false;
  const WgmmaOperands operands = wgmma_operands(problem);
  return operands.a.along && operands.b.along;
}

bool has_direct_rows(const Problem& few) {
  const WgmmaOperands operands = wgmma_operands(few);
  const auto is_direct = [](const WgmmaOperand& x) { return x.along && !x.is_copied; };
  return is_direct(operands.a) && is_direct(operands.b);
}

}  // namespace rooftile::gemm_plan
