// The copy engine moves the tiles.
//
// Idea       one thread asks for a tile and, when the block has turned it, hands the result back; addresses,
//            edges and the swizzle of shared memory are the engine's. Blocks are small, so that many tiles of
//            an SM are on the way.
// Change     no thread loads or stores global memory; two tiles of shared memory, because the engine swizzles
//            rows of 128 bytes by their number and not by the register block's.
// Limits     rows aligned to 16 bytes; at most one leading dimension that is not merged with another.
// Bottleneck DRAM. (A persistent block with a ring of two to four tiles is slower, f32 8192^2 0.93 of the
//            bound against 0.95, both with blocks along the rows: what a ring keeps on the way, the resident
//            blocks do, too, without waiting for each other.)
// Source     PTX ISA, cp.async.bulk.tensor and its swizzling modes.
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/tma.h"
#include "rooftile/device/swizzle.h"
#include "rooftile/ops/transpose/rungs/register_block.h"
#include "rooftile/ops/transpose/rungs/transpose_device.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

constexpr int kSpan = 128;  // bytes: the swizzle's row, and the width of one copy
constexpr int kChunks = kSpan / kVecBytes;

// A tile of kGroupsM x kGroupsN squares, each 128 bytes of items wide and high.
template <int kItemBytes_, int kGroupsM_, int kGroupsN_, int kThreads_>
struct TmaTile {
  static constexpr int kItemBytes = kItemBytes_;
  static constexpr int kGroupsM = kGroupsM_;
  static constexpr int kGroupsN = kGroupsN_;
  static constexpr int kThreads = kThreads_;
  static constexpr int kN = kSide<kItemBytes>;
  static constexpr int kSquare = kChunks * kN;  // items
  static constexpr int kTileM = kGroupsM * kSquare;
  static constexpr int kTileN = kGroupsN * kSquare;
  static constexpr int kBytes = kTileM * kTileN * kItemBytes;
  static constexpr int kBlocks =
      kGroupsM * kGroupsN * kChunks * kChunks / kThreads;  // register blocks per thread
  static_assert(kTileM <= 256 && kTileN <= 256, "TMA's box has up to 256 rows");
  static_assert(kBlocks * kThreads == kGroupsM * kGroupsN * kChunks * kChunks, "no thread is left over");
  static_assert(2 * kBytes <= 65536, "three blocks per SM at least");
};

// Of bound on an H200, cold: f32 1.00, bf16 0.99, u8 0.98, f64 1.01, 16 bytes 1.01 (8192^2 and 16384^2).
template <int kItemBytes>
struct TmaTileFor {
  using type = TmaTile<kItemBytes, 2, 2, 128>;
};
template <>
struct TmaTileFor<2> {
  using type = TmaTile<2, 1, 2, 128>;
};
template <>
struct TmaTileFor<1> {
  using type = TmaTile<1, 1, 1, 64>;
};

// An element of the map: 16-byte items travel as two of 8.
template <int kItemBytes>
constexpr int kMapElements = kItemBytes == 16 ? 2 : 1;

// The square [8 * kN rows][128 bytes] at s_in, turned, into the one at s_out. Register block (b, c) of a
// square is taken by the lane that has b of its own and c = b ^ d: with TMA's swizzle the eight lanes of a
// phase then find the rows they read, and the rows they write, in different banks. 16-byte items, whose
// blocks are single chunks, want one c for all.
template <class Shape>
__device__ __forceinline__ void turn_square(const unsigned char* s_in, unsigned char* s_out, int lane) {
  constexpr int kN = Shape::kN;
  const int b = lane % kChunks;
  const int d = lane / kChunks;
  const int c = Shape::kItemBytes == kVecBytes ? d : b ^ d;
  Words r_block[kN];
#pragma unroll
  for (int i = 0; i < kN; ++i) {
    const auto at = static_cast<std::uint32_t>((b * kN + i) * kSpan + c * kVecBytes);
    r_block[i] = to_words(*reinterpret_cast<const uint4*>(s_in + swizzle_bytes<kSpan>(at)));
  }
  transpose_block<Shape::kItemBytes>(r_block);
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    const auto at = static_cast<std::uint32_t>((c * kN + j) * kSpan + b * kVecBytes);
    *reinterpret_cast<uint4*>(s_out + swizzle_bytes<kSpan>(at)) = to_vector(r_block[j]);
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    tma_kernel(const __grid_constant__ TensorMap in_map, const __grid_constant__ TensorMap out_map,
               TileGrid grid) {
  ROOFTILE_DYN_SHARED(unsigned char, s_in);           // [kGroupsN][kTileM][128 bytes]
  unsigned char* const s_out = s_in + Shape::kBytes;  // [kGroupsM][kTileN][128 bytes]
  __shared__ Mbarrier s_full;
  constexpr int kElements = kMapElements<Shape::kItemBytes>;
  const TilePlace place = tile_place(grid);
  const int i = static_cast<int>(place.m_tile) * Shape::kTileM;
  const int j = static_cast<int>(place.n_tile) * Shape::kTileN;
  const auto matrix = static_cast<int>(place.matrix);
  if (threadIdx.x == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&s_full, Shape::kBytes);
#pragma unroll
    for (int g = 0; g < Shape::kGroupsN; ++g) {
      tma_load(s_in + g * Shape::kTileM * kSpan, in_map, {(j + g * Shape::kSquare) * kElements, i, matrix},
               &s_full);
    }
  }
  __syncthreads();  // the barrier is initialised
  mbarrier_wait(&s_full, 0);

#pragma unroll
  for (int k = 0; k < Shape::kBlocks; ++k) {
    const int block = static_cast<int>(threadIdx.x) + k * Shape::kThreads;
    const int square = block / (kChunks * kChunks);
    const int m_group = square % Shape::kGroupsM;
    const int n_group = square / Shape::kGroupsM;
    turn_square<Shape>(s_in + (n_group * Shape::kTileM + m_group * Shape::kSquare) * kSpan,
                       s_out + (m_group * Shape::kTileN + n_group * Shape::kSquare) * kSpan,
                       block % (kChunks * kChunks));
  }
  fence_proxy_async<FenceSpace::shared_block>();
  __syncthreads();  // every thread's part of the turned tile is there for the engine
  if (threadIdx.x == 0) {
#pragma unroll
    for (int g = 0; g < Shape::kGroupsM; ++g) {
      tma_store(out_map, {(i + g * Shape::kSquare) * kElements, j, matrix},
                s_out + g * Shape::kTileN * kSpan);
    }
    bulk_commit();
    bulk_wait_read<0>();
  }
}

constexpr DType map_dtype(int item_bytes) {
  if (item_bytes == 1) return DType::u8;
  if (item_bytes == 2) return DType::u16;
  return item_bytes == 4 ? DType::u32 : DType::u64;
}

struct Rows {
  const void* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row_stride;  // bytes
  std::int64_t matrices;
  std::int64_t matrix_stride;  // bytes
};

// Boxes of box_rows rows and 128 bytes.
template <int kItemBytes>
Status make_map(TensorMap& map, const Rows& a, int box_rows) {
  constexpr int kElements = kMapElements<kItemBytes>;
  constexpr int kBytes = kItemBytes / kElements;
  TensorMapSpec spec;
  spec.data = const_cast<void*>(a.data);
  spec.dtype = map_dtype(kItemBytes);
  spec.rank = 3;
  spec.extents = {a.columns * kElements, a.rows, a.matrices};
  spec.strides = {1, a.row_stride / kBytes, a.matrix_stride / kBytes};
  spec.box = {kSpan / kBytes, box_rows, 1};
  spec.swizzle = TileSwizzle::bytes128;
  spec.l2_promotion = L2Promotion::bytes256;
  return make_tensor_map(map, spec);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  return dispatch_item(g.item_bytes, [&]<int kItemBytes>() -> Status {
    using Shape = typename TmaTileFor<kItemBytes>::type;
    ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<Shape::kTileM, Shape::kTileN>(g)));
    // A single matrix has no stride to the next: any legal one does.
    const bool single = g.batch.rank == 0;
    TensorMap in_map;
    TensorMap out_map;
    ROOFTILE_TRY(make_map<kItemBytes>(in_map,
                                      {call.args.in.data, g.m, g.n, g.in_row, g.batch.count,
                                       single ? g.m * g.in_row : g.batch.in_strides[0]},
                                      Shape::kTileM));
    ROOFTILE_TRY(make_map<kItemBytes>(out_map,
                                      {call.args.out.data, g.n, g.m, g.out_row, g.batch.count,
                                       single ? g.n * g.out_row : g.batch.out_strides[0]},
                                      Shape::kTileN));
    return launch(tma_kernel<Shape>,
                  {.grid = dim3(tile_blocks(grid, g)),
                   .block = dim3(Shape::kThreads),
                   .shared_bytes = std::size_t{2} * Shape::kBytes,
                   .stream = call.stream},
                  in_map, out_map, grid);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
