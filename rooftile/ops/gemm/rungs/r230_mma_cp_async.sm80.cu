// Copies that are steps ahead.
//
// Idea       cp.async brings chunks into a ring of four stages, past the registers: three steps are on their way while one is multiplied.
// Change     no thread waits for global memory, and one barrier parts two steps.
// Limits     f16, bf16; rows or columns without gaps, at multiples of 16 bytes.
// Bottleneck mma: Hopper's wgmma multiplies twice as fast, from shared memory.
// Source     PTX ISA, cp.async; CUTLASS.
#include "rooftile/device/sm80/cp_async.h"
#include "rooftile/ops/gemm/rungs/mma_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

constexpr int kStages = 4;
template <bool kAlongA, bool kAlongB>
constexpr int kStageElements =
    StepTile<MmaTile::kRows, kAlongA>::kElements + StepTile<MmaTile::kColumns, kAlongB>::kElements;

template <class Copy>
__device__ __forceinline__ void copy_step(Copy& copy, std::uint16_t* s_tile) {
  copy.step([&](int i, const std::uint16_t* g_from, bool is_inside) {
    cp_async_or_zero<16>(s_tile + Copy::place(i), g_from, is_inside ? 16 : 0);
  });
}

template <class T, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(MmaTile::kThreads, 2)
    mma_cp_async_kernel(const __grid_constant__ Problem p, const __grid_constant__ gemm_plan::MmaCut cut,
                        RoundedWay way) {
  using TileA = StepTile<MmaTile::kRows, kAlongA>;
  using TileB = StepTile<MmaTile::kColumns, kAlongB>;
  constexpr int kStage = kStageElements<kAlongA, kAlongB>;
  ROOFTILE_DYN_SHARED(uint4, s_bytes);
  auto* s_stages = reinterpret_cast<std::uint16_t*>(s_bytes);
  const MmaPlace place(cut);
  auto copy_a = copy_of_a<T, kAlongA>(p, place);
  auto copy_b = copy_of_b<T, kAlongB>(p, place);
  const auto copy = [&](std::uint16_t* s_stage) {
    copy_step(copy_a, s_stage);
    copy_step(copy_b, s_stage + TileA::kElements);
    cp_async_commit();
  };
#pragma unroll 1
  for (int s = 0; s < kStages - 1; ++s) copy(s_stages + s * kStage);
  WarpSums<T> sums;
  int read = 0;
  int write = (kStages - 1) * kStage;
#pragma unroll 1
  for (int step = 0; step < cut.steps; ++step) {
    cp_async_wait<kStages - 2>();
    __syncthreads();  // the step is there, and the one before has been read
    copy(s_stages + write);
    sums.template add<TileA, TileB>(s_stages + read, s_stages + read + TileA::kElements);
    write = read;
    read = read == (kStages - 1) * kStage ? 0 : read + kStage;
  }
  cp_async_wait_all();
  __syncthreads();  // the last step has been read, and no copy is on its way
  auto* s_sums = reinterpret_cast<float*>(s_bytes);
  sums.gather(s_sums);
  __syncthreads();  // the sums are there
  give_tile<MmaTile::kRows, MmaTile::kColumns, WarpSums<T>::kPitch, MmaTile::kThreads, T>(
      s_sums, p, way, place.batch, place.row, place.column);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_half_layouts(call, [&]<class T, bool kAlongA, bool kAlongB>(const Problem& problem) -> Status {
    constexpr std::size_t kRing = sizeof(T) * kStages * kStageElements<kAlongA, kAlongB>;
    const auto& cut = call.config<gemm_plan::MmaCut>();
    if (cut.tiles() > kMaxGrid) return unsupported("more than 2^31 - 1 tiles");
    return launch(mma_cp_async_kernel<T, kAlongA, kAlongB>,
                  {.grid = dim3(static_cast<unsigned>(cut.tiles())),
                   .block = dim3(MmaTile::kThreads),
                   .shared_bytes = kRing > WarpSums<T>::kSharedBytes ? kRing : WarpSums<T>::kSharedBytes,
                   .stream = call.stream},
                  problem, cut, rounded_way(call.args, problem));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
