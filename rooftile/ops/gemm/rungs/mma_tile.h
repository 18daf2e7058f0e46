// Tiles of 16-bit operands in shared memory, and their products by tensor cores of a warp: mma and ldmatrix.
//
// A tile lies as its matrix does: `along` k, rows of 32 elements, or across, lines of all rows of a (columns of b). Chunks of 16 bytes are
// swizzled within 8 rows, so that the eight rows that ldmatrix reads at once lie in different banks.
#pragma once

#include <cstdint>

#include "rooftile/device/sm80/ldmatrix.h"
#include "rooftile/device/sm80/mma.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/gemm/gemm_tensor.h"
#include "rooftile/ops/gemm/rungs/rounded_output.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::MmaTile;

inline constexpr int kChunk = 8;  // elements of 16 bytes
using Chunk = Vec<std::uint16_t, kChunk>;

// A step of one operand: kOuter rows of a (or columns of b), MmaTile::kDepth elements of each.
template <int kOuter, bool kAlong>
struct StepTile {
  static constexpr int kElements = kOuter * MmaTile::kDepth;
  static constexpr int kLine =
      (kAlong ? MmaTile::kDepth : kOuter) / kChunk;                       // chunks of a row in shared memory
  static constexpr int kCopies = kElements / kChunk / MmaTile::kThreads;  // of a thread
  static_assert(kCopies * kChunk * MmaTile::kThreads == kElements);

  // Where a chunk lies, in elements.
  __device__ __forceinline__ static int at(int row, int chunk) {
    const int key = kAlong ? row / 2 % kLine : row % 8;
    return (row * kLine + (chunk ^ key)) * kChunk;
  }
  // Of ldmatrix: this lane's row of four matrices, those of 16 outer elements from `outer` on and 16 along k from 16 `slice` on; the
  // second is 8 further out (kOuterFirst) or 8 further along k.
  template <bool kOuterFirst>
  __device__ __forceinline__ static void fragments(std::uint32_t (&r)[4], const std::uint16_t* s_tile,
                                                   int outer, int slice) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int matrix = lane / 8;
    const int further_out = kOuterFirst ? matrix % 2 : matrix / 2;
    const int further_along = kOuterFirst ? matrix / 2 : matrix % 2;
    if constexpr (kAlong)
      ldmatrix(r, s_tile + at(outer + 8 * further_out + lane % 8, 2 * slice + further_along));
    else
      ldmatrix_transposed(r, s_tile + at(16 * slice + 8 * further_along + lane % 8, outer / 8 + further_out));
  }
};

// A thread's copies of one operand, step by step. What lies outside of the matrix is zeros.
template <int kOuter, bool kAlong>
class StepCopy {
 public:
  using Tile = StepTile<kOuter, kAlong>;

  // outer_stride, line_stride: from a row of a (column of b) to the next, and along k.
  __device__ __forceinline__ StepCopy(const void* data, std::int64_t first, std::int64_t outers,
                                      std::int64_t outer_stride, std::int64_t lines, std::int64_t line_stride)
      : g_(static_cast<const std::uint16_t*>(data) + first * outer_stride),
        outers_(outers - first),
        lines_(lines),
        outer_stride_(outer_stride),
        line_stride_(line_stride) {}

  // Where this thread's chunk i goes in shared memory, in elements.
  __device__ __forceinline__ static int place(int i) {
    return Tile::at(chunk(i) / Tile::kLine, chunk(i) % Tile::kLine);
  }
  // visit(i, source, whether it is inside) of each chunk of the step, and on to the next.
  template <class Visit>
  __device__ __forceinline__ void step(Visit visit) {
#pragma unroll
    for (int i = 0; i < Tile::kCopies; ++i) {
      const int row = chunk(i) / Tile::kLine;
      const int column = chunk(i) % Tile::kLine * kChunk;
      const int outer = kAlong ? row : column;
      const int line = kAlong ? column : row;
      const bool is_inside = outer < outers_ && line < lines_;
      visit(i, is_inside ? g_ + outer * outer_stride_ + line * line_stride_ : g_, is_inside);
    }
    g_ += MmaTile::kDepth * line_stride_;
    lines_ -= MmaTile::kDepth;
  }

 private:
  __device__ __forceinline__ static int chunk(int i) {
    return i * MmaTile::kThreads + static_cast<int>(threadIdx.x);
  }

  const std::uint16_t* g_;
  std::int64_t outers_;
  std::int64_t lines_;
  std::int64_t outer_stride_;
  std::int64_t line_stride_;
};

// A warp's sums: kWarpRows x kWarpColumns elements of the tile.
template <class T>
struct WarpSums {
  static constexpr int kRows = MmaTile::kWarpRows / 16;
  static constexpr int kColumns = MmaTile::kWarpColumns / 8;
  static constexpr int kPitch =
      MmaTile::kColumns + 8;  // floats: a row's four pairs of lanes in banks of their own
  static constexpr std::size_t kSharedBytes = sizeof(float) * MmaTile::kRows * kPitch;
  float at[kRows][kColumns][4] = {};

  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ __forceinline__ static int row() { return warp() / MmaTile::kWarpsAcross * MmaTile::kWarpRows; }
  __device__ __forceinline__ static int column() {
    return warp() % MmaTile::kWarpsAcross * MmaTile::kWarpColumns;
  }

  template <class TileA, class TileB>
  __device__ __forceinline__ void add(const std::uint16_t* s_a, const std::uint16_t* s_b) {
#pragma unroll
    for (int slice = 0; slice < MmaTile::kDepth / 16; ++slice) {
      std::uint32_t a[kRows][4];
#pragma unroll
      for (int i = 0; i < kRows; ++i) TileA::template fragments<true>(a[i], s_a, row() + 16 * i, slice);
#pragma unroll
      for (int j = 0; j < kColumns; j += 2) {
        std::uint32_t pair[4];
        TileB::template fragments<false>(pair, s_b, column() + 8 * j, slice);
        const std::uint32_t b[2][2] = {{pair[0], pair[1]}, {pair[2], pair[3]}};
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          mma_m16n8k16<T>(at[i][j], a[i], b[0], at[i][j]);
          mma_m16n8k16<T>(at[i][j + 1], a[i], b[1], at[i][j + 1]);
        }
      }
    }
  }
  // Into rows of kPitch floats.
  __device__ __forceinline__ void gather(float* s_sums) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const Vec<float, 2> vec = {{at[i][j][2 * half], at[i][j][2 * half + 1]}};
          store_vec(
              s_sums + (row() + 16 * i + 8 * half + lane / 4) * kPitch + column() + 8 * j + lane % 4 * 2,
              vec);
        }
  }
};

// A block's tile of out.
struct MmaPlace {
  std::int64_t batch;
  std::int64_t row;
  std::int64_t column;
  __device__ __forceinline__ explicit MmaPlace(const gemm_plan::MmaCut& cut) {
    const auto rows = static_cast<unsigned>(cut.tile_rows);
    const unsigned of_matrix = blockIdx.x % (rows * static_cast<unsigned>(cut.tile_columns));
    batch = blockIdx.x / (rows * static_cast<unsigned>(cut.tile_columns));
    row = std::int64_t{of_matrix % rows} * MmaTile::kRows;
    column = std::int64_t{of_matrix / rows} * MmaTile::kColumns;
  }
};
template <class T, bool kAlong>
__device__ __forceinline__ StepCopy<MmaTile::kRows, kAlong> copy_of_a(const Problem& p,
                                                                      const MmaPlace& place) {
  return {
      static_cast<const T*>(p.a_data) + place.batch * p.a.batch, place.row, p.m, p.a.row, p.k, p.a.column};
}
template <class T, bool kAlong>
__device__ __forceinline__ StepCopy<MmaTile::kColumns, kAlong> copy_of_b(const Problem& p,
                                                                         const MmaPlace& place) {
  return {
      static_cast<const T*>(p.b_data) + place.batch * p.b.batch, place.column, p.n, p.b.column, p.k, p.b.row};
}

// launch.operator()<T, kAlongA, kAlongB>(problem) of the types and layouts of a call.
template <class Launch>
Status with_half_layouts(const Call<GemmArgs>& call, Launch launch) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  const gemm_plan::CopyWays ways = gemm_plan::copy_ways(problem, sizeof(std::uint16_t));
  const bool along_a = ways.a == gemm_plan::CopyWay::turned;
  const bool along_b = ways.b == gemm_plan::CopyWay::turned;
  return dispatch(HalfTypes{}, call.args.a.dtype, [&]<class T>() -> Status {
    if (along_a)
      return along_b ? launch.template operator()<T, true, true>(problem)
                     : launch.template operator()<T, true, false>(problem);
    return along_b ? launch.template operator()<T, false, true>(problem)
                   : launch.template operator()<T, false, false>(problem);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
