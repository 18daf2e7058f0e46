#include "rooftile/ops/gemm/gemm_few.h"

#include <array>
#include <cstdio>

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
  while (cut.parts < kMostSwapParts && 2 * cut.tiles() * cut.parts <= device.multiprocessors &&
         cut.steps >= 4 * cut.parts)
    cut.parts *= 2;
  // As of warp_specialized, measured: in cycles at 1755 MHz; the way to memory, which all have alike, is left out.
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
  cut.microseconds = cycles / kCyclesPerMicrosecond;
  return cut;
}

DirectCut direct_cut(const Problem& few) {
  DirectCut cut{.batches = few.batches,
                .tile_columns = ceil_div(few.n, few.m == 1 ? kDirectColumnsOfOne : kDirectColumns)};
  // Measured, in microseconds and bytes of b in one, where L2 has them: of one row, of up to 8 and of up to 16.
  constexpr double kLaunch = 2.9;
  const double rate = few.m == 1 ? 6.5e3 : few.m <= 8 ? 5.6e3 : 4.4e3;
  const double bytes =
      2.0 * static_cast<double>(few.batches) * static_cast<double>(few.n) * static_cast<double>(few.k);
  cut.microseconds = kLaunch + bytes / rate / 1e3;
  return cut;
}

std::string explain_few(const GemmArgs& args, const DeviceProperties& device) {
  const Problem few = skinny_problem_of(args);
  if (few.m > kMostSwapRows || few.k < 1) return "";
  std::array<char, 200> line;
  std::string text;
  if (few.m <= kMostDirectRows && has_direct_rows(few)) {
    const DirectCut cut = direct_cut(few);
    (void)std::snprintf(line.data(), line.size(), "direct_fragments: %lld tiles of %d columns: %.1f us\n",
                        static_cast<long long>(cut.tiles()),
                        few.m == 1 ? kDirectColumnsOfOne : kDirectColumns, cut.microseconds);
    text += line.data();
  }
  const SwapCut cut = swap_cut(few, device);
  (void)std::snprintf(line.data(), line.size(),
                      "swap_ab: %lld tiles of %d x %d, %d steps of %d in %d parts: %.1f us\n",
                      static_cast<long long>(cut.tiles()), cut.rows, kSwapColumns, cut.steps, kSwapDepth,
                      cut.parts, cut.microseconds);
  return text + line.data();
}

bool has_direct_rows(const Problem& few) {
  const WgmmaOperands operands = wgmma_operands(few);
  const auto is_direct = [](const WgmmaOperand& x) { return x.along && !x.is_copied; };
  return is_direct(operands.a) && is_direct(operands.b);
}

}  // namespace rooftile::gemm_plan
