// How a call is cut into blocks: what the table, choose() and the launchers share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/host_device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/workspace.h"
#include "rooftile/ops/gemv/gemv.h"

namespace rooftile::gemv_plan {

inline constexpr int kVectorBytes = 16;
inline constexpr int kLineVectors = 8;  // of a line of L2: parts of a row begin with one
inline constexpr int kWarp = 32;
// By Little's law an H200 needs some 40 KiB on their way on each multiprocessor.
inline constexpr std::int64_t kBytesInFlight = std::int64_t{48} << 10;
// What a multiply-add chain of one thread may be long: what the error bound says.
inline constexpr std::int64_t kLongestChain = 1024;

// thread_per_row and warp_per_row.
inline constexpr int kLessonBlock = 256;

// vectorized: a warp takes a row, four vectors of each lane in flight and four of x beside them: 56 registers, 36 warps on a
// multiprocessor. Eight leave room for 32 warps, and none for x: ptxas then waits for six before it asks for the other two.
inline constexpr int kVectorizedBlock = 128;
inline constexpr int kVectorizedBlocks = 9;  // per multiprocessor
inline constexpr int kWarpVectors = 4;
inline constexpr std::int64_t kWarpBytes = std::int64_t{kWarp} * kWarpVectors * kVectorBytes;

// several_rows_per_warp: rows of fewer vectors than a warp's lanes take two rounds for. From there on vectorized has 36 warps
// with a KiB each in flight on a multiprocessor.
inline constexpr int kSeveralBlock = 256;
inline constexpr int kSeveralBlocks = 3;  // per multiprocessor: 80 registers
// In flight of each group of lanes; rows that begin anywhere take more registers.
constexpr int several_rows(bool aligned) { return aligned ? 4 : 2; }
inline constexpr std::int64_t kShortRowVectors = 64;

// whole_rows: a block's rows, and what each of its threads asks for at once: `loads` vectors of each row. On an H200, bf16, cold and
// clean (dirty), of cuBLAS in the same run:
//   14336 x 4096   wide 1.16, others 1.14                   4096 x 4096    wide 1.24, others 1.21
//   16384 x 16384  long 1.05 (1.15), wide 1.05 (1.12)       8192 x 16384   long 1.07 (1.31), wide 1.07 (1.25)
//   4096 x 28672   others 1.06 (1.30), wide 1.04 (1.23), long 1.01 (1.29)
struct RowBlock {
  int threads;
  int rows;
  int loads;
  int blocks;  // per multiprocessor
};
inline constexpr RowBlock kWideRows = {256, 2, 2, 5};  // rows that 512 vectors at a time cover
inline constexpr RowBlock kLongRows = {512, 2, 2, 2};  // from kLongRowBytes on, that 1024 cover
inline constexpr RowBlock kOtherRows = {128, 2, 2, 10};
inline constexpr std::int64_t kLongRowBytes = std::int64_t{32} << 10;
inline constexpr std::int64_t kLeastRowVectors = 256;   // or half of the threads have nothing to load
inline constexpr std::int64_t kFewRounds = 2;           // of loads, one waiting for the other
inline constexpr std::int64_t kMostRowBatches = 65535;  // blocks along y

// split_columns: blocks that share rows; three of them on a multiprocessor leave each thread 80 registers, enough for eight vectors
// of the matrix and two of x; of one row four and four.
inline constexpr int kSplitBlock = 256;
inline constexpr int kSplitBlocks = 3;                             // per multiprocessor
inline constexpr int kSplitRows = 4;                               // that share what is loaded of x
constexpr int split_loads(int rows) { return rows == 1 ? 4 : 2; }  // of each row, for each thread in flight
// x stays in L1 beside the matrix that streams by; a longer one comes from L2 again for each row, as many bytes as the matrix.
inline constexpr std::int64_t kCachedBytes = std::int64_t{64} << 10;

// From this size of a matrix on four rows that share what is loaded of x are ahead of a warp to each: on an H200 of f32 67 MB take
// vectorized 23.0 us and split_columns 23.3, 1 GiB 263.1 and 260.8; of bf16 34 MB 14.9 and 15.5, 117 MB 36.2 and 34.6, 512 MiB 136.1
// and 136.5.
inline constexpr std::int64_t kSharedFromBytes = std::int64_t{96} << 20;

// column_parallel: threads side by side along the columns, the others along the rows.
inline constexpr int kColumnBlock = 512;
inline constexpr int kColumnBlocks = 2;  // per multiprocessor
// Vectors of a thread in flight, as many as there are registers beside its accumulators.
constexpr int column_loads(std::size_t element, bool aligned) {
  const int loads = element == 2 ? 4 : 8;
  return aligned ? loads : loads / 2;
}
inline constexpr int kColumnThreads =
    32;  // side by side: 512 bytes of a row; more, where the rows are too few for the others

// What is computed: matrices of `rows` rows, whose elements lie side by side. Column-major ones are the transpose of such ones.
struct Geometry {
  bool transposed = false;  // an output for each column
  std::int64_t batches = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t pitch = 0;  // elements between the starts of two rows
  std::int64_t a_batch = 0;
  std::int64_t x_batch = 0;
  std::int64_t c_batch = 0;
  std::int64_t y_batch = 0;
  std::int64_t x_step = 1;
  std::int64_t c_step = 1;
  std::int64_t y_step = 1;
  [[nodiscard]] ROOFTILE_HOST_DEVICE constexpr std::int64_t outputs() const {
    return transposed ? columns : rows;
  }
  [[nodiscard]] ROOFTILE_HOST_DEVICE constexpr std::int64_t reduced() const {
    return transposed ? rows : columns;
  }
};

// The extents and the leading dimension of the last two axes of `a`, whatever they are: is_sound says whether they serve.
[[nodiscard]] Geometry layout_of(const ConstTensorView& a, bool transpose);
enum class LayoutFault { none, no_unit_stride, leading_dimension };
[[nodiscard]] LayoutFault fault_of(const ConstTensorView& a, const Geometry& layout);

// Precondition: the arguments passed gemv's checks. With alpha = 0 nothing is to be added: reduced() is 0.
[[nodiscard]] Geometry geometry(const GemvArgs& args);

// Whether every row starts at 16 bytes.
[[nodiscard]] bool has_aligned_rows(const GemvArgs& args);
// Whether vectors of rows and of x may be loaded as they lie: has_aligned_rows, and the same of x.
[[nodiscard]] bool is_aligned(const GemvArgs& args);
// Whether that is all there is of them: is_aligned, and no row ends within a vector.
[[nodiscard]] bool has_whole_vectors(const GemvArgs& args);

// How a call is cut into blocks: decided by the row's plan, read by its launcher.
struct Cut {
  Geometry shape;
  std::int64_t blocks = 1;
  std::int64_t parts = 1;  // of the axis that is reduced
  std::int64_t part = 0;   // its length: vectors (split_columns), rows (column_parallel)
  std::int64_t tiles = 1;  // of the outputs of a matrix
  int lanes = 1;           // threads side by side along a row; of whole_rows the block's
  int rows = 1;            // that a block of split_columns or whole_rows has
  bool aligned = true;
};

[[nodiscard]] Cut cut_outputs(const GemvArgs& args, std::int64_t outputs_per_block);
[[nodiscard]] Cut cut_several(const GemvArgs& args);
[[nodiscard]] Cut cut_whole_rows(const GemvArgs& args);
// Whether whole_rows is the way: x stays in L1 beside the matrix, and no block has so many rounds of loads that the others would have
// taken some of them (split_columns), unless there are blocks enough.
[[nodiscard]] bool suits_whole_rows(const GemvArgs& args, const DeviceProperties& device);
[[nodiscard]] Cut cut_split(const GemvArgs& args, const DeviceProperties& device);
// What split_columns needs at most, wherever the memory will lie to its alignment.
[[nodiscard]] WorkspaceSpec split_workspace(const GemvArgs& args, const DeviceProperties& device);
[[nodiscard]] Cut cut_columns(const GemvArgs& args, const DeviceProperties& device);

// Of what is added up, f32 or f64.
inline std::size_t sum_bytes(const GemvArgs& args) { return args.a.dtype == DType::f64 ? 8 : 4; }
inline std::int64_t element_bytes(const GemvArgs& args) {
  return static_cast<std::int64_t>(size_of(args.a.dtype));
}
inline std::int64_t vectors_of(std::int64_t elements, const GemvArgs& args) {
  return ceil_div(elements * element_bytes(args), kVectorBytes);
}

}  // namespace rooftile::gemv_plan
