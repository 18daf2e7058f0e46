// How products of 16-bit operands are cut up for tensor cores: what the table, choose() and the launchers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rooftile/core/device.h"
#include "rooftile/ops/gemm/gemm_plan.h"

namespace rooftile::gemm_plan {

// The tile of a block of mma_sync and mma_cp_async: eight warps, each with 64 x 32 sums.
struct MmaTile {
  static constexpr int kRows = 128;
  static constexpr int kColumns = 128;
  static constexpr int kDepth = 32;  // of a step along k
  static constexpr int kWarpRows = 64;
  static constexpr int kWarpColumns = 32;
  static constexpr int kWarpsAcross = kColumns / kWarpColumns;
  static constexpr int kThreads = 32 * kWarpsAcross * (kRows / kWarpRows);
};
struct MmaCut {
  std::int64_t batches = 1;
  std::int64_t tile_rows = 1;
  std::int64_t tile_columns = 1;
  std::int64_t steps = 0;  // of a tile

  [[nodiscard]] std::int64_t tiles() const { return batches * tile_rows * tile_columns; }
};
[[nodiscard]] MmaCut mma_cut(const Problem& problem);

// Tiles of warp_specialized and cluster_multicast: 64 rows for each warpgroup that multiplies.
struct WgmmaShape {
  int rows;
  int columns;
  int blocks;  // on a multiprocessor
};
inline constexpr WgmmaShape kWgmmaShapes[] = {{128, 256, 1}, {128, 192, 1}, {128, 128, 1}, {128, 64, 1},
                                              {64, 64, 2},   {128, 96, 1},  {128, 144, 1}, {128, 160, 1},
                                              {128, 72, 1},  {128, 112, 1}};
inline constexpr int kRingShapes = 8;   // those of warp_specialized, the first
inline constexpr int kStepsShape = 2;   // that of wgmma_single and wgmma_pipelined
inline constexpr int kWgmmaDepth = 64;  // of a step along k
// Clusters of cluster_multicast: blocks below each other and side by side, as powers of two. One direction alone is faster than both: a
// stage then waits for the blocks of one direction. 2 x 2 is for b across k, where nothing else of 128 columns was measured.
struct WgmmaCluster {
  int shape;  // of kWgmmaShapes
  int log_down;
  int log_across;
};
inline constexpr WgmmaCluster kWgmmaClusters[] = {{0, 1, 0}, {2, 1, 1}, {8, 3, 0}, {8, 2, 0},
                                                  {5, 0, 2}, {9, 0, 2}, {7, 2, 0}};
// Columns of b that lie across k come as boxes of 64.
constexpr bool has_wgmma_columns(int shape, bool along_b) {
  return along_b || kWgmmaShapes[shape].columns % 64 == 0;
}

struct WgmmaPlace {
  int batch;
  int row;
  int column;
};
// A tile for each block of a cluster; a cluster's one after the other.
struct WgmmaCut {
  static constexpr int kBandRows = 1024;  // that are gone through together, so that L2 holds what they read
  int shape = 0;                          // of kWgmmaShapes
  int log_down = 0;                       // blocks of a cluster
  int log_across = 0;
  int steps = 1;  // of a tile
  std::int64_t batches = 1;
  std::int64_t tile_rows = 1;  // of clusters' tiles
  std::int64_t tile_columns = 1;
  std::int64_t blocks = 1;
  double microseconds = 0;  // that the model expects

  [[nodiscard]] std::int64_t tiles() const { return batches * tile_rows * tile_columns; }
};
// The places of a cut's tiles of rows x columns, those of clusters where it has any: bands of kBandRows, each down its rows first. There are
// fewer than 2^31 tiles, and out has fewer rows and columns. Divisor: by what does not change, such as device/fast_divide.h; kernels ask for a place where everything waits for it.
template <class Divisor>
class WgmmaPlaces {
 public:
  WgmmaPlaces(const WgmmaCut& cut, int rows, int columns)
      : tiles_(static_cast<std::uint32_t>(cut.tiles())),
        rows_(rows),
        columns_(columns),
        band_tiles_(static_cast<std::uint32_t>(WgmmaCut::kBandRows / rows)),
        last_band_(static_cast<std::uint32_t>(cut.tile_rows - 1) / band_tiles_),
        by_matrix_(static_cast<std::uint32_t>(cut.tile_rows * cut.tile_columns)),
        by_band_(band_tiles_ * static_cast<std::uint32_t>(cut.tile_columns)),
        by_high_(band_tiles_),
        by_last_high_(static_cast<std::uint32_t>(cut.tile_rows) - last_band_ * band_tiles_) {}

  [[nodiscard]] ROOFTILE_HOST_DEVICE std::uint32_t tiles() const { return tiles_; }
  [[nodiscard]] ROOFTILE_HOST_DEVICE WgmmaPlace operator()(std::uint32_t tile) const {
    const auto of_matrix = by_matrix_.divide_with_remainder(tile);
    const auto of_band = by_band_.divide_with_remainder(of_matrix.remainder);
    const Divisor& by_high = of_band.quotient == last_band_ ? by_last_high_ : by_high_;
    const auto in_band = by_high.divide_with_remainder(of_band.remainder);
    return {.batch = static_cast<int>(of_matrix.quotient),
            .row = static_cast<int>(of_band.quotient * band_tiles_ + in_band.remainder) * rows_,
            .column = static_cast<int>(in_band.quotient) * columns_};
  }

 private:
  std::uint32_t tiles_;
  int rows_;
  int columns_;
  std::uint32_t band_tiles_;  // below each other
  std::uint32_t last_band_;
  Divisor by_matrix_;
  Divisor by_band_;
  Divisor by_high_;
  Divisor by_last_high_;
};
// Tiles of cluster_split_k: 64 rows, a block for each, or 2 or 4 (a cluster) that part its steps.
struct PartShape {
  int columns;
  int log_parts;  // at most
};
inline constexpr PartShape kPartShapes[] = {{64, 0}, {32, 2}, {16, 2}, {96, 0}, {128, 0}};
constexpr bool has_part_columns(int shape, bool along_b) {
  return along_b || kPartShapes[shape].columns != 96;
}
inline constexpr int kPartRows = 64;
inline constexpr int kPartDepth = 128;  // of a step along k
struct PartsCut {
  int shape = 0;  // of kPartShapes
  int log_parts = 0;
  int steps = 1;       // of a tile
  bool whole = false;  // k ends with a line of 64
  std::int64_t batches = 1;
  std::int64_t tile_rows = 1;
  std::int64_t tile_columns = 1;
  double microseconds = 0;  // that the model expects

  [[nodiscard]] std::int64_t tiles() const { return batches * tile_rows * tile_columns << log_parts; }
};
// An operand as TMA and wgmma take it: rows of a (columns of b) `outer` elements apart, or lines along k `line` apart. Where neither kind lies
// without gaps at multiples of 16 bytes it is copied first, so that one does.
struct WgmmaOperand {
  bool along = true;  // k runs along memory
  bool is_copied = false;
  std::int64_t outers = 0;
  std::int64_t lines = 0;
  std::int64_t outer = 0;  // strides of what is multiplied, in elements
  std::int64_t line = 0;
  std::int64_t batch = 0;
  std::int64_t batches = 1;  // that are different
  std::size_t bytes = 0;     // of the copy
};
struct WgmmaOperands {
  WgmmaOperand a;
  WgmmaOperand b;
  [[nodiscard]] std::size_t bytes() const { return a.bytes + b.bytes; }
};
[[nodiscard]] WgmmaOperands wgmma_operands(const Problem& problem);

[[nodiscard]] WgmmaCut wgmma_cut(const Problem& problem, int shape, const DeviceProperties& device);
[[nodiscard]] WgmmaCut multicast_cut(const Problem& problem, const WgmmaCluster& cluster,
                                     const DeviceProperties& device);
// Those that the model expects to be fastest.
[[nodiscard]] WgmmaCut fastest_wgmma(const Problem& problem, const DeviceProperties& device);
[[nodiscard]] WgmmaCut fastest_multicast(const Problem& problem, const DeviceProperties& device);
// log_parts is cut down to what the shape and the steps allow.
[[nodiscard]] PartsCut parts_cut(const Problem& problem, int shape, int log_parts,
                                 const DeviceProperties& device);
[[nodiscard]] PartsCut fastest_parts(const Problem& problem, const DeviceProperties& device);
// The model's reasons: every shape of tiles, then what it expects of each rung, a line each. Of a product that warp_specialized serves.
[[nodiscard]] std::string explain_wgmma(const Problem& problem, const DeviceProperties& device);

}  // namespace rooftile::gemm_plan
