// Stages that one of the threads that multiply asks for: a block for each tile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/device/shared_carve.h"
#include "rooftile/ops/gemm/rungs/wgmma_results.h"
#include "rooftile/ops/gemm/rungs/wgmma_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

// 128 x 128 elements of out by two warpgroups, through kStages stages.
template <class T, int kStages, bool kAlongA, bool kAlongB>
struct StepsKernel {
  static constexpr gemm_plan::WgmmaShape kTile = gemm_plan::kWgmmaShapes[gemm_plan::kStepsShape];
  static constexpr int kThreads = kTile.rows / kWarpgroupRows * kWarpgroup;
  using A = StageOperand<kTile.rows, kAlongA>;
  using B = StageOperand<kTile.columns, kAlongB>;
  using Results = WarpResults<T, kTile.columns, false>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;

  struct Shared {
    std::byte* s_stages;  // [kStages][kStageBytes]
    ResultStaging<kThreads / 32> staging;
    Mbarrier* s_full;  // [kStages]: its bytes are there
    __host__ __device__ explicit Shared(SharedCarve& carve)
        : s_stages(carve.array<std::byte>(std::size_t{kStages} * kStageBytes, 1024)),
          staging(carve),
          s_full(carve.array<Mbarrier>(kStages)) {}
  };
};

template <class T, int kStages, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(StepsKernel<T, kStages, kAlongA, kAlongB>::kThreads)
    steps_kernel(const __grid_constant__ Problem p, const __grid_constant__ WgmmaPlaces places, int steps,
                 const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
                 RoundedWay way) {
  using Kernel = StepsKernel<T, kStages, kAlongA, kAlongB>;
  using A = typename Kernel::A;
  using B = typename Kernel::B;
  ROOFTILE_DYN_SHARED(unsigned char, s_raw);
  SharedCarve carve(s_raw);
  const typename Kernel::Shared shared(carve);
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) mbarrier_init(shared.s_full + s, 1);
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are initialised
  const gemm_plan::WgmmaPlace place = places(blockIdx.x);
  const auto ask = [&](int step) {
    const int stage = step % kStages;
    std::byte* s_a = shared.s_stages + stage * Kernel::kStageBytes;
    Mbarrier* s_full = shared.s_full + stage;
    mbarrier_arrive_expect_tx(s_full, Kernel::kStageBytes);
    A::load(s_a, map_a, place.row, step * kStepDepth, p.a.batch == 0 ? 0 : place.batch, s_full);
    B::load(s_a + A::kBytes, map_b, place.column, step * kStepDepth, p.b.batch == 0 ? 0 : place.batch,
            s_full);
  };
  if (threadIdx.x == 0)
    for (int step = 0; step < kStages && step < steps; ++step) ask(step);
  const int own = static_cast<int>(threadIdx.x) / kWarpgroup;
  WarpgroupSums<T, Kernel::kTile.columns> sums;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int stage = step % kStages;
    const std::byte* s_a = shared.s_stages + stage * Kernel::kStageBytes;
    mbarrier_wait(shared.s_full + stage, static_cast<unsigned>(step / kStages % 2));
    sums.template add<A, B>(s_a, s_a + A::kBytes, own * kWarpgroupRows, step > 0);
    wgmma_wait<0>(sums.at);
    __syncthreads();  // both warpgroups have read the stage
    if (threadIdx.x == 0 && step + kStages < steps) ask(step + kStages);
  }
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const typename Kernel::Results::Bias bias(p, way, place.row + warp * 16, place.column);
  typename Kernel::Results(sums.at, shared.staging, warp)
      .give(p, way, bias, place.batch, place.row + warp * 16, place.column);
}

template <int kStages>
Status launch_steps(const Call<GemmArgs>& call) {
  return with_wgmma_operands(
      call,
      [&]<class T, bool kAlongA, bool kAlongB>(const Problem& p, const gemm_plan::WgmmaOperands& operands,
                                               const OperandData& data) -> Status {
        using Kernel = StepsKernel<T, kStages, kAlongA, kAlongB>;
        const auto& cut = call.config<gemm_plan::WgmmaCut>();
        OperandMaps<Kernel::kTile.rows, Kernel::kTile.columns, kAlongA, kAlongB> maps;
        ROOFTILE_TRY(maps.make(call.args.a.dtype, operands, data));
        return launch(steps_kernel<T, kStages, kAlongA, kAlongB>,
                      {.grid = dim3(static_cast<unsigned>(cut.tiles())),
                       .block = dim3(Kernel::kThreads),
                       .shared_bytes = shared_bytes<typename Kernel::Shared>(),
                       .stream = call.stream},
                      p, WgmmaPlaces(cut, Kernel::kTile.rows, Kernel::kTile.columns), cut.steps, maps.a,
                      maps.b, rounded_way(call.args, p));
      });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
