// A ring of stages between a thread that copies and two warpgroups that multiply, in a block that stays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/setmaxnreg.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/rungs/wgmma_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::WgmmaCut;
using gemm_plan::WgmmaPlace;

// kShape: of gemm_plan::kWgmmaShapes; each warpgroup that multiplies has 64 rows of a tile. kCluster: blocks, whose tiles lie below each
// other: each brings its part of the columns of b, to all of them.
template <class T, int kShape, int kCluster, bool kAlongA, bool kAlongB>
struct RingKernel {
  static constexpr gemm_plan::WgmmaShape kTile = gemm_plan::kWgmmaShapes[kShape];
  static constexpr int kRows = kTile.rows;
  static constexpr int kColumns = kTile.columns;
  static constexpr int kConsumers = kRows / kWarpgroupRows;
  static constexpr int kThreads = (1 + kConsumers) * kWarpgroup;
  using A = StageOperand<kRows, kAlongA>;
  using B = StageOperand<kColumns, kAlongB>;
  using PartOfB = StageOperand<kColumns / kCluster, kAlongB>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;
  using Results = WarpResults<T, kColumns>;
  static constexpr int kStagingBytes = 4 * kConsumers * Results::kStagingBytes;
  // As many as a block's share of a multiprocessor's 227 KB holds, of which a launch takes 1 KB; 1 KB for the barriers.
  static constexpr int kShare = (228 / kTile.blocks - 2) * 1024 - kStagingBytes;
  static constexpr int kStages = kShare / kStageBytes < 8 ? kShare / kStageBytes : 8;

  // 96 or 128 sums in each thread, and 168 registers for each of 384.
  static constexpr bool kNeedsRegisters = kColumns > 128;

  struct Shared {
    std::byte* s_stages;   // [kStages][kStageBytes]
    std::byte* s_staging;  // [warps that multiply][Results::kStagingBytes]
    Mbarrier* s_full;      // [kStages]: its bytes are there
    Mbarrier* s_empty;     // [kStages]: all who read it, of all the blocks that share it, have done so
    __host__ __device__ explicit Shared(SharedCarve& carve)
        : s_stages(carve.array<std::byte>(std::size_t{kStages} * kStageBytes, 1024)),
          s_staging(carve.array<std::byte>(kStagingBytes, 128)),
          s_full(carve.array<Mbarrier>(kStages)),
          s_empty(carve.array<Mbarrier>(kStages)) {}
  };
  // A place in the ring, and the parity of its round.
  struct Turn {
    int stage = 0;
    unsigned parity = 0;
    __device__ __forceinline__ void next() {
      if (++stage == kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
  };

  // What one thread of the block asks for: stage after stage, tile after tile.
  class Copier {
   public:
    __device__ __forceinline__ Copier(const Problem& p, const WgmmaCut& cut, const TensorMap& map_a,
                                      const TensorMap& map_b, const Shared& shared, int rank)
        : p_(p), cut_(cut), map_a_(map_a), map_b_(map_b), shared_(shared), rank_(rank) {}

    // The first stages, before other threads know the barriers: nobody has to release them. Asking takes some 200 cycles each, and all wait
    // for it: no more than what arrives at about that time.
    __device__ __forceinline__ void ask_first() {
      const Places places(*this, blockIdx.x / kCluster);
      constexpr int kFirst = 2;
      const int most = cut_.steps < kFirst ? cut_.steps : kFirst;
#pragma unroll 1
      for (; asked_ < most; ++asked_) ask(places, asked_);
    }
    __device__ __forceinline__ void ask_others() {
#pragma unroll 1
      for (std::int64_t tile = blockIdx.x / kCluster; tile < cut_.tiles(); tile += gridDim.x / kCluster) {
        const Places places(*this, tile);
#pragma unroll 1
        for (int step = asked_; step < cut_.steps; ++step) {
          mbarrier_wait(shared_.s_empty + turn_.stage, turn_.parity ^ 1);
          ask(places, step);
        }
        asked_ = 0;
      }
    }

   private:
    struct Places {
      int row;
      int column;
      int batch_a;
      int batch_b;
      __device__ __forceinline__ Places(const Copier& copier, std::int64_t tile) {
        const WgmmaPlace place = gemm_plan::wgmma_place(copier.cut_, tile, kRows * kCluster, kColumns);
        row = static_cast<int>(place.row) + copier.rank_ * kRows;
        column = static_cast<int>(place.column) + copier.rank_ * (kColumns / kCluster);
        batch_a = copier.p_.a.batch == 0 ? 0 : static_cast<int>(place.batch);
        batch_b = copier.p_.b.batch == 0 ? 0 : static_cast<int>(place.batch);
      }
    };
    __device__ __forceinline__ void ask(const Places& at, int step) {
      std::byte* s_a = shared_.s_stages + turn_.stage * kStageBytes;
      std::byte* s_b = s_a + A::kBytes;
      Mbarrier* s_full = shared_.s_full + turn_.stage;
      mbarrier_arrive_expect_tx(s_full, kStageBytes);
      A::load(s_a, map_a_, at.row, step * kStepDepth, at.batch_a, s_full);
      if constexpr (kCluster == 1)
        B::load(s_b, map_b_, at.column, step * kStepDepth, at.batch_b, s_full);
      else
        PartOfB::load_for_all(s_b + rank_ * PartOfB::kBytes, map_b_, at.column, step * kStepDepth, at.batch_b,
                              s_full, (1u << kCluster) - 1);
      turn_.next();
    }

    const Problem& p_;
    const WgmmaCut& cut_;
    const TensorMap& map_a_;
    const TensorMap& map_b_;
    const Shared& shared_;
    int rank_;
    Turn turn_;
    int asked_ = 0;  // steps of the first tile
  };

  // The barriers are initialised, in all blocks of the cluster. A block that is alone asks for its first stages before that.
  __device__ __forceinline__ static void begin(const Shared& shared, const TensorMap& map_a,
                                               const TensorMap& map_b, Copier& copier) {
    if (threadIdx.x == 0) {
      prefetch_tensor_map(map_a);
      prefetch_tensor_map(map_b);
      for (int s = 0; s < kStages; ++s) {
        mbarrier_init(shared.s_full + s, 1);
        mbarrier_init(shared.s_empty + s, kConsumers * kCluster);
      }
      fence_mbarrier_init();
      if constexpr (kCluster == 1) copier.ask_first();
    }
    if constexpr (kCluster > 1)
      cluster_sync();
    else
      __syncthreads();
  }

  // By a warpgroup: the products of its rows of every tile.
  __device__ __forceinline__ static void multiply(const Problem& p, const WgmmaCut& cut,
                                                  const RoundedWay& way, const Shared& shared, int rank,
                                                  int own) {
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    // One thread for each block that shares the stage.
    const auto release = [&](int stage) {
      if constexpr (kCluster == 1) {
        if (thread == 0) mbarrier_arrive(shared.s_empty + stage);
      } else {
        if (thread < kCluster) mbarrier_arrive_remote<MbarrierScope::block>(shared.s_empty + stage, thread);
      }
    };
    Turn turn;
    for (std::int64_t tile = blockIdx.x / kCluster; tile < cut.tiles(); tile += gridDim.x / kCluster) {
      WarpgroupSums<T, kColumns> sums;
      int before = 0;  // the stage of the product that is still under way
      for (int step = 0; step < cut.steps; ++step) {
        mbarrier_wait(shared.s_full + turn.stage, turn.parity);
        const std::byte* s_a = shared.s_stages + turn.stage * kStageBytes;
        sums.template add<A, B>(s_a, s_a + A::kBytes, own * kWarpgroupRows, step > 0);
        wgmma_wait<1>();
        if (step > 0) release(before);
        before = turn.stage;
        turn.next();
      }
      wgmma_wait<0>(sums.at);
      release(before);
      const WgmmaPlace place = gemm_plan::wgmma_place(cut, tile, kRows * kCluster, kColumns);
      Results(sums.at, shared.s_staging + (own * 4 + warp) * Results::kStagingBytes)
          .give(p, way, place.batch, place.row + rank * kRows + own * kWarpgroupRows + warp * 16,
                place.column);
    }
  }
};

template <class T, int kShape, int kCluster, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(RingKernel<T, kShape, kCluster, kAlongA, kAlongB>::kThreads,
                                  gemm_plan::kWgmmaShapes[kShape].blocks)
    ring_kernel(const __grid_constant__ Problem p, const __grid_constant__ WgmmaCut cut,
                const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
                RoundedWay way) {
  using Kernel = RingKernel<T, kShape, kCluster, kAlongA, kAlongB>;
  ROOFTILE_DYN_SHARED(unsigned char, s_raw);
  SharedCarve carve(s_raw);
  const typename Kernel::Shared shared(carve);
  const int rank = kCluster == 1 ? 0 : static_cast<int>(cluster_rank());
  // Of a lane for all: the compiler then keeps what follows from it, down to wgmma's descriptors, in uniform registers. From
  // others it brings four there before each wgmma, which a small one does not hide.
  const int warpgroup = shuffle(static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  typename Kernel::Copier copier(p, cut, map_a, map_b, shared, rank);
  Kernel::begin(shared, map_a, map_b, copier);
  if (warpgroup == 0) {
    if constexpr (Kernel::kNeedsRegisters) setmaxnreg_dec<40>();
    if (threadIdx.x == 0) copier.ask_others();
  } else {
    if constexpr (Kernel::kNeedsRegisters) setmaxnreg_inc<232>();
    Kernel::multiply(p, cut, way, shared, rank, warpgroup - 1);
  }
  if constexpr (kCluster > 1)
    cluster_sync();  // nobody copies to this block any more, nor arrives at its barriers
}

template <class T, int kShape, int kCluster, bool kAlongA, bool kAlongB>
Status launch_ring(const Call<GemmArgs>& call, const Problem& p, const gemm_plan::WgmmaOperands& operands,
                   const OperandData& data) {
  using Kernel = RingKernel<T, kShape, kCluster, kAlongA, kAlongB>;
  const auto& cut = call.config<WgmmaCut>();
  OperandMaps<Kernel::kRows, Kernel::kColumns / kCluster, kAlongA, kAlongB> maps;
  ROOFTILE_TRY(maps.make(call.args.a.dtype, operands, data));
  return launch(ring_kernel<T, kShape, kCluster, kAlongA, kAlongB>,
                {.grid = dim3(static_cast<unsigned>(cut.blocks)),
                 .block = dim3(Kernel::kThreads),
                 .shared_bytes = shared_bytes<typename Kernel::Shared>(),
                 .stream = call.stream,
                 .cluster = dim3(kCluster)},
                p, cut, maps.a, maps.b, rounded_way(call.args, p));
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
