// How a call is seen and cut up: what the table, choose() and the launchers share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/host_device.h"
#include "rooftile/core/integers.h"
#include "rooftile/ops/gemm/gemm.h"

namespace rooftile::gemm_plan {

inline constexpr int kVectorBytes = 16;

// A call with its transposes, batches and missing tensors resolved: element (i, j) of matrix z is data + z batch + i row +
// j column, in elements. out's columns lie side by side wherever either of its axes does: a column-major out is computed as
// the row-major one of the transposed product.
struct Matrix {
  std::int64_t batch = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};
struct Problem {
  const void* a_data = nullptr;  // [m,k]
  const void* b_data = nullptr;  // [k,n]
  const void* c_data = nullptr;  // [m,n]; null: not read
  const void* bias_data = nullptr;
  void* out_data = nullptr;  // [m,n]
  Matrix a;
  Matrix b;
  Matrix c;
  Matrix bias;  // one of its strides is 0
  Matrix out;
  std::int64_t batches = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  double alpha = 1;
  double beta = 0;
  GemmActivation activation = GemmActivation::none;

  [[nodiscard]] bool is_empty() const { return batches == 0 || m == 0 || n == 0; }
};
[[nodiscard]] Problem problem_of(const GemmArgs& args);
// The same, turned round if out has fewer columns than rows.
[[nodiscard]] Problem skinny_problem_of(const GemmArgs& args);

// How an operand comes into shared memory, where its elements lie as [line along k][row of a, or column of b]:
//   along   16 bytes of a line at a time, past the registers
//   turned  16 bytes along k, by way of registers
//   single  element by element, past the registers, whatever the strides
enum class CopyWay : std::uint8_t { along, turned, single };
struct CopyWays {
  CopyWay a = CopyWay::single;
  CopyWay b = CopyWay::single;
};
[[nodiscard]] CopyWays copy_ways(const Problem& problem, std::size_t element);

// Whether 16 bytes along the second axis of an operand, n columns of it, may be read at once wherever they begin at a multiple.
[[nodiscard]] bool has_vectors(const void* data, const Matrix& matrix, std::int64_t steps, std::int64_t n,
                               std::size_t element);

// The tile of a block: warps of 8 x 4 lanes, each with kThreadRows rows and thread_columns columns. `slices` warps share the same
// elements of out: each takes kDepth lines of a step along k.
inline constexpr int kThreadRows = 8;
inline constexpr int kDepth = 8;
struct TileShape {
  int warp_rows = 1;
  int warp_columns = 1;
  int slices = 1;
  int thread_columns = 8;
  int blocks = 1;            // on a multiprocessor
  int stages = 4;            // steps in shared memory; sliced, one more where elements come one by one
  bool looks_ahead = false;  // a thread has the next line in registers while it multiplies one
  [[nodiscard]] constexpr int rows() const { return 8 * kThreadRows * warp_rows; }
  [[nodiscard]] constexpr int columns() const { return 4 * thread_columns * warp_columns; }
  [[nodiscard]] constexpr int depth() const { return kDepth * slices; }
  [[nodiscard]] constexpr int threads() const { return 32 * warp_rows * warp_columns * slices; }
};
enum class TileSize : std::uint8_t { large, sliced, tiny, narrow };
// Those of stream_k: narrow ones are cluster_k's alone, and of f32. Of f64 there are no sliced tiles.
inline constexpr TileSize kTileSizes[] = {TileSize::large, TileSize::sliced, TileSize::tiny};
constexpr bool has_tiles(std::size_t element, TileSize size) {
  return element == 4 || size != TileSize::sliced;
}
// A thread has sums of 512 bytes, of 256 in tiny tiles, of 128 in narrow ones.
constexpr TileShape tile_shape(std::size_t element, TileSize size) {
  const int thread_columns = element == 4 ? 16 : 8;
  switch (size) {
    case TileSize::large:
      return {.warp_rows = 2,
              .warp_columns = 2,
              .thread_columns = thread_columns,
              .blocks = 2,
              .looks_ahead = true};
    case TileSize::sliced:
      return {.slices = 4, .thread_columns = thread_columns, .blocks = 2, .stages = 3, .looks_ahead = true};
    case TileSize::narrow:
      return {.slices = 4, .thread_columns = thread_columns / 4, .blocks = 4, .stages = 3};
    default:
      return {.warp_columns = 2, .thread_columns = thread_columns / 2, .blocks = element == 4 ? 6 : 4};
  }
}

// Which steps along k of which tiles a block computes. The first `split_tiles` tiles are cut into `units` ranges of equally many
// steps, wherever a tile ends; every other tile is a block's own.
struct Schedule {
  TileSize size = TileSize::large;
  std::int64_t tile_rows = 1;
  std::int64_t tile_columns = 1;
  std::int64_t steps = 1;  // of a tile
  std::int64_t split_tiles = 0;
  std::int64_t units = 0;
  std::int64_t whole_tiles = 0;
  double microseconds = 0;  // that the model expects

  [[nodiscard]] std::int64_t blocks() const { return units + whole_tiles; }
};
// The number of the unit that computes step x of all split tiles, and the first step of a unit. Where steps are divided there are
// at most kMostSteps: 32 bits do.
inline constexpr std::int64_t kMostSteps = (std::int64_t{1} << 31) - 1;
template <class Int>
ROOFTILE_HOST_DEVICE constexpr Int first_step(Int steps, Int units, Int unit) {
  const Int rest = steps % units;
  return steps / units * unit + (unit < rest ? unit : rest);
}
template <class Int>
ROOFTILE_HOST_DEVICE constexpr Int unit_of(Int steps, Int units, Int x) {
  const Int each = steps / units;
  const Int rest = steps % units;
  const Int longer = rest * (each + 1);
  return x < longer ? x / (each + 1) : rest + (x - longer) / each;
}

// How skinny cuts a product of a few rows: strips of columns, each in parts along k.
inline constexpr std::int64_t kSkinnyRows = 16;
struct SkinnyCut {
  bool by_lines = true;  // b's columns lie side by side; else its lines do
  bool has_vectors = false;
  std::int64_t strips = 1;  // of 128 columns by lines, else of 32
  std::int64_t parts = 1;
  std::int64_t lines = 1;  // of a part
};
[[nodiscard]] SkinnyCut skinny_cut(const Problem& problem, const DeviceProperties& device);

// How persistent parts a product: tiles of side x side, a block's one after the other.
inline constexpr int kPersistentDepth = 16;                                // lines of a step
constexpr int persistent_blocks(int side) { return side == 64 ? 4 : 14; }  // on a multiprocessor
struct PersistentCut {
  int side = 64;
  std::int64_t tile_rows = 1;
  std::int64_t tile_columns = 1;
  std::int64_t tiles = 1;
  std::int64_t blocks = 1;
  int steps = 1;  // of a tile
};
[[nodiscard]] PersistentCut persistent_cut(const Problem& problem, const DeviceProperties& device);

// The CPU's: a block of out, and what a thread has of a and b beside it, in elements. Rows are a multiple of every kernel's.
struct HostBlock {
  static constexpr std::int64_t kRows = 96;
  static constexpr std::int64_t kColumns = 256;
  static constexpr std::int64_t kDepth = 256;
  static constexpr std::int64_t kSums = kRows * kColumns;
  static constexpr std::int64_t kA = kRows * kDepth;
  static constexpr std::int64_t kB = kColumns * kDepth;
  static constexpr std::int64_t elements() { return kSums + kA + kB; }
};
struct HostCut {
  int slots = 1;  // threads, each with memory of its own
};
[[nodiscard]] HostCut host_cut(const Problem& problem, const DeviceProperties& device);

}  // namespace rooftile::gemm_plan
