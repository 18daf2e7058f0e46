#include "rooftile/ops/gemm/gemm_few.h"

#include <array>
#include <cstdio>
#include <iterator>

#include "rooftile/core/integers.h"

namespace rooftile::gemm_plan {

SwapCut swap_cut(const Problem& few, const DeviceProperties& device) {
  SwapCut cut{.rows = few.m <= 8    ? 8
                      : few.m <= 16 ? 16
                      : few.m <= 32 ? 32
                                    : 64,
              .steps = static_cast<int>(larger(1, ceil_div(few.k, kSwapDepth))),
              .batches = few.batches,
              .tile_columns = ceil_div(few.n, kSwapColumns)};
  // As many as every multiprocessor's first block allows; a cluster's way back is worth two steps at least.
  while (cut.parts < kMostSwapParts && 2 * cut.parts * cut.tiles() <= device.multiprocessors &&
         cut.steps >= 4 * cut.parts)
    cut.parts *= 2;
  // As of warp_specialized, measured: in cycles at 1755 MHz; the way to memory, which all have alike, is left out.
  constexpr double kCyclesPerMicrosecond = 1755;
  constexpr double kLaunch = 5500;
  constexpr double kOfTile = 1000;
  constexpr double kOfParts = 2000;  // that meet
  const double of_step = cut.rows == 64 ? 770 : 600;
  const auto steps = static_cast<double>(ceil_div(cut.steps, cut.parts));
  const auto blocks = static_cast<double>(cut.tiles() * cut.parts) / device.multiprocessors;
  const double cycles =
      kLaunch + (cut.parts > 1 ? kOfParts : 0) + (blocks < 1 ? 1 : blocks) * (kOfTile + steps * of_step);
  cut.microseconds = cycles / kCyclesPerMicrosecond;
  return cut;
}

bool swaps(const GemmArgs& args, const DeviceProperties& device) {
  constexpr int kShapes = std::size(kWgmmaShapes);
  return swap_cut(skinny_problem_of(args), device).microseconds <
         fastest_wgmma(problem_of(args), kShapes, 1, device).microseconds;
}

std::string explain_few(const GemmArgs& args, const DeviceProperties& device) {
  const Problem few = skinny_problem_of(args);
  if (few.m > kMostSwapRows || few.k < 1) return "";
  if (few.m <= kMostDirectRows && has_direct_rows(few))
    return "up to 8 rows, or columns, along k: direct_fragments\n";
  const SwapCut cut = swap_cut(few, device);
  std::array<char, 200> line;
  (void)std::snprintf(line.data(), line.size(),
                      "swap_ab: %lld tiles of %d x %d, %d steps of %d in %d parts: %.1f us\n",
                      static_cast<long long>(cut.tiles()), cut.rows, kSwapColumns, cut.steps, kSwapDepth,
                      cut.parts, cut.microseconds);
  return line.data();
}

DirectCut direct_cut(const Problem& few) {
  return {.batches = few.batches,
          .tile_columns = ceil_div(few.n, few.m == 1 ? kDirectColumnsOfOne : kDirectColumns)};
}

bool has_direct_rows(const Problem& few) {
  const WgmmaOperands operands = wgmma_operands(few);
  const auto is_direct = [](const WgmmaOperand& x) { return x.along && !x.is_copied; };
  return is_direct(operands.a) && is_direct(operands.b);
}

}  // namespace rooftile::gemm_plan
