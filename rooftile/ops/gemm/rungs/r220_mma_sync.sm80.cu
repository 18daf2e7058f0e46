// Fragments from swizzled shared memory.
//
// Idea       a warp's tensor core takes 16 x 16 elements of a and 16 x 8 of b from registers, which ldmatrix fills as they are to lie there;
//            a warp has 64 x 32 sums, eight warps 128 x 128.
// Change     each element that comes from shared memory is multiplied 32 or 64 times, and no bank is met twice.
// Limits     f16, bf16; rows or columns without gaps, at multiples of 16 bytes.
// Bottleneck the wait for global memory at every step.
// Source     PTX ISA, mma.m16n8k16 and ldmatrix.
#include "rooftile/ops/gemm/rungs/mma_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

// A thread's chunks of a step, from global memory to shared memory: all of them are on their way before the first is stored.
template <class Copy>
struct Staged {
  Chunk chunks[Copy::Tile::kCopies];
  __device__ __forceinline__ void fetch(Copy& copy) {
    copy.step([&](int i, const std::uint16_t* g_from, bool is_inside) {
      chunks[i] = is_inside ? load_vec(g_from) : Chunk{};
    });
  }
  __device__ __forceinline__ void store(std::uint16_t* s_tile) const {
#pragma unroll
    for (int i = 0; i < Copy::Tile::kCopies; ++i) store_vec(s_tile + Copy::place(i), chunks[i]);
  }
};

template <class T, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(MmaTile::kThreads, 2)
    mma_sync_kernel(const __grid_constant__ Problem p, const __grid_constant__ gemm_plan::MmaCut cut,
                    RoundedWay way) {
  using TileA = StepTile<MmaTile::kRows, kAlongA>;
  using TileB = StepTile<MmaTile::kColumns, kAlongB>;
  ROOFTILE_DYN_SHARED(uint4, s_bytes);
  auto* s_a = reinterpret_cast<std::uint16_t*>(s_bytes);
  auto* s_b = s_a + TileA::kElements;
  const MmaPlace place(cut);
  auto copy_a = copy_of_a<T, kAlongA>(p, place);
  auto copy_b = copy_of_b<T, kAlongB>(p, place);
  WarpSums<T> sums;
#pragma unroll 1
  for (std::int64_t step = 0; step < cut.steps; ++step) {
    Staged<decltype(copy_a)> of_a;
    Staged<decltype(copy_b)> of_b;
    of_a.fetch(copy_a);
    of_b.fetch(copy_b);
    of_a.store(s_a);
    of_b.store(s_b);
    __syncthreads();  // the step is there
    sums.template add<TileA, TileB>(s_a, s_b);
    __syncthreads();  // it has been read
  }
  auto* s_sums = reinterpret_cast<float*>(s_bytes);
  sums.gather(s_sums);
  __syncthreads();  // the sums are there
  give_tile<MmaTile::kRows, MmaTile::kColumns, WarpSums<T>::kPitch, MmaTile::kThreads, T>(
      s_sums, p, way, place.batch, place.row, place.column);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_half_layouts(call, [&]<class T, bool kAlongA, bool kAlongB>(const Problem& problem) -> Status {
    const auto& cut = call.config<gemm_plan::MmaCut>();
    if (cut.tiles() > kMaxGrid) return unsupported("more than 2^31 - 1 tiles");
    return launch(mma_sync_kernel<T, kAlongA, kAlongB>,
                  {.grid = dim3(static_cast<unsigned>(cut.tiles())),
                   .block = dim3(MmaTile::kThreads),
                   .shared_bytes = WarpSums<T>::kSharedBytes,
                   .stream = call.stream},
                  problem, cut, rounded_way(call.args, problem));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
