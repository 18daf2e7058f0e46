// How products of a few rows, or columns, of 16-bit operands are cut up: what the table, choose() and the launchers share. The few are rows of
// a here; where out has few columns it is the transposed product that is seen (skinny_problem_of()), and results go to the out that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rooftile/core/device.h"
#include "rooftile/ops/gemm/gemm_plan.h"
#include "rooftile/ops/gemm/gemm_tensor.h"

namespace rooftile::gemm_plan {

// Whether the operands change places for the product to have few rows.
[[nodiscard]] inline bool is_turned(const Problem& problem) { return problem.n < problem.m; }

// Whether L2 holds b from one launch to the next.
[[nodiscard]] bool fits_in_l2(const Problem& few, const DeviceProperties& device);

// swap_ab: tiles of 64 columns of b by all rows of a, each by a cluster of `parts` blocks that part its steps along k.
inline constexpr std::int64_t kMostSwapRows = 64;
inline constexpr int kSwapColumns = 64;
inline constexpr int kSwapDepth = 2 * kWgmmaDepth;  // of a step: 256 bytes of a row
inline constexpr int kMostSwapParts = 8;            // blocks of a cluster that every GPU with clusters has
struct SwapCut {
  int rows = 8;  // the width of wgmma: rows of a, and what is empty
  int parts = 1;
  int steps = 1;  // of a tile
  std::int64_t batches = 1;
  std::int64_t tile_columns = 1;
  double microseconds = 0;  // that the model expects

  [[nodiscard]] std::int64_t tiles() const { return batches * tile_columns; }
  [[nodiscard]] std::int64_t blocks() const { return tiles() * parts; }
};
[[nodiscard]] SwapCut swap_cut(const Problem& few, const DeviceProperties& device);
// Of a b that L2 cannot hold: how many tiles' columns come as ordinary lines, which the same call finds again; the others leave first.
[[nodiscard]] int kept_tiles(const Problem& few, const DeviceProperties& device);
// What the model expects of rungs for more rows where there are a few: cluster_split_k, of a few rows as they are called, and warp_specialized.
[[nodiscard]] double microseconds_of_parts(const GemmArgs& args, const DeviceProperties& device);
[[nodiscard]] double microseconds_of_tiles(const GemmArgs& args, const DeviceProperties& device);
// Whether cluster_split_k was timed of calls like this beside the rungs for a few rows.
[[nodiscard]] bool serves_few_as_parts(const GemmArgs& args);
// What the model expects of each rung for a few rows, a line each; nothing where the call has more.
[[nodiscard]] std::string explain_few(const GemmArgs& args, const DeviceProperties& device);

// direct_fragments and dependent_fragments: a block for some columns of b, whose warps part k.
inline constexpr std::int64_t kMostDirectRows = 16;
struct DirectCut {
  std::int64_t batches = 1;
  std::int64_t tile_columns = 1;  // of kDirectColumns, of one row kDirectColumnsOfOne
  double microseconds = 0;        // that the model expects

  [[nodiscard]] std::int64_t tiles() const { return batches * tile_columns; }
};
inline constexpr int kDirectColumns = 16;
inline constexpr int kDirectColumnsOfOne = 2;
[[nodiscard]] DirectCut direct_cut(const Problem& few);
// Rows of both operands run along k, at multiples of 16 bytes.
[[nodiscard]] bool has_direct_rows(const Problem& few);

}  // namespace rooftile::gemm_plan
