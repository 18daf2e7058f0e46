// A ring of stages between a thread that copies and two warpgroups that multiply, in a block that stays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/device/hidden.h"
#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/dependent_launch.h"
#include "rooftile/device/sm90a/setmaxnreg.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/rungs/wgmma_results.h"
#include "rooftile/ops/gemm/rungs/wgmma_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::WgmmaCut;
using gemm_plan::WgmmaPlace;

// kShape: of gemm_plan::kWgmmaShapes; each warpgroup that multiplies has 64 rows of a tile. kShares: blocks of a cluster that need the same
// rows of a, or columns of b, take turns in bringing them, step by step, to all of these.
template <class T, int kShape, bool kShares, bool kAlongA, bool kAlongB>
struct RingKernel {
  static constexpr gemm_plan::WgmmaShape kTile = gemm_plan::kWgmmaShapes[kShape];
  static constexpr int kRows = kTile.rows;
  static constexpr int kColumns = kTile.columns;
  static constexpr int kConsumers = kRows / kWarpgroupRows;
  static constexpr int kThreads = (1 + kConsumers) * kWarpgroup;
  using A = StageOperand<kRows, kAlongA>;
  using B = StageOperand<kColumns, kAlongB>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;
  using Results = WarpResults<T, kColumns, true>;
  using Staging = ResultStaging<4 * kConsumers>;
  // As many as a block's share of a multiprocessor's 227 KB holds, of which a launch takes 1 KB; 1 KB for the barriers.
  static constexpr int kShare = (228 / kTile.blocks - 2) * 1024 - Staging::kBytes;
  static constexpr int kStages = kShare / kStageBytes < 8 ? kShare / kStageBytes : 8;

  // 96 or 128 sums in each thread, and 168 registers for each of 384.
  static constexpr bool kNeedsRegisters = kColumns > 128;

  struct Shared {
    std::byte* s_stages;  // [kStages][kStageBytes]
    Staging staging;      // of the warps that multiply
    Mbarrier* s_full;     // [kStages]: its bytes are there
    // [kStages]: all who read it have done so, of the blocks that share columns of b; behind them as many of those that share rows of a. By
    // one barrier for both a block could count for another one: it may be a round ahead of those with which it shares nothing.
    Mbarrier* s_empty;
    __host__ __device__ explicit Shared(SharedCarve& carve)
        : s_stages(carve.array<std::byte>(std::size_t{kStages} * kStageBytes, 1024)),
          staging(carve),
          s_full(carve.array<Mbarrier>(kStages)),
          s_empty(carve.array<Mbarrier>(kShares ? 2 * kStages : kStages)) {}
  };
  // A block's place in its cluster.
  struct Seat {
    int down = 0;
    int across = 0;
    __device__ __forceinline__ explicit Seat(const WgmmaCut& cut) {
      if constexpr (kShares) {
        const auto rank = static_cast<int>(cluster_rank());
        down = rank & ((1 << cut.log_down) - 1);
        across = rank >> cut.log_down;
      }
    }
  };
  // The first tile of this block's cluster, and how many clusters there are. No division: the compiler then knows that all threads go through
  // the same loop, and wgmma's descriptors stay in uniform registers.
  __device__ __forceinline__ static std::uint32_t first_tile(const WgmmaCut& cut) {
    return kShares ? blockIdx.x >> (cut.log_down + cut.log_across) : blockIdx.x;
  }
  __device__ __forceinline__ static std::uint32_t clusters(const WgmmaCut& cut) {
    return kShares ? gridDim.x >> (cut.log_down + cut.log_across) : gridDim.x;
  }
  static WgmmaPlaces places_of(const WgmmaCut& cut) {
    return {cut, kRows << cut.log_down, kColumns << cut.log_across};
  }
  __device__ __forceinline__ static WgmmaPlace place_of(const WgmmaPlaces& places, const Seat& seat,
                                                        std::uint32_t tile) {
    WgmmaPlace place = places(tile);
    place.row += seat.down * kRows;
    place.column += seat.across * kColumns;
    return place;
  }
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

  // Blocks that bring something to this one, itself among them: those above and below, and those beside it; 0: nobody but itself, which
  // counts once.
  struct Sharing {
    int below = 1;
    int beside = 0;
    __device__ __forceinline__ explicit Sharing(const WgmmaCut& cut) {
      if constexpr (kShares) {
        beside = cut.log_across > 0 ? 1 << cut.log_across : 0;
        below = cut.log_down > 0 || beside == 0 ? 1 << cut.log_down : 0;
      }
    }
  };
  __device__ __forceinline__ static void wait_until_empty(const Shared& shared, const Sharing& sharing,
                                                          const Turn& turn) {
    if (!kShares || sharing.below > 0) mbarrier_wait(shared.s_empty + turn.stage, turn.parity ^ 1);
    if (kShares && sharing.beside > 0) mbarrier_wait(shared.s_empty + kStages + turn.stage, turn.parity ^ 1);
  }

  static constexpr int kCopier = 32;  // the thread that asks for stages: not that which prepares the barriers

  // What one thread of the block asks for: stage after stage, tile after tile.
  class Copier {
   public:
    __device__ __forceinline__ Copier(const Problem& p, const WgmmaCut& cut, const WgmmaPlaces& places,
                                      const TensorMap& map_a, const TensorMap& map_b, const Shared& shared,
                                      const Seat& seat)
        : p_(p),
          cut_(cut),
          places_(places),
          map_a_(map_a),
          map_b_(map_b),
          shared_(shared),
          seat_(seat),
          sharing_(cut) {
      if constexpr (kShares) {
        const int all = (1 << (1 << (cut.log_down + cut.log_across))) - 1;
        const int column = (1 << (1 << cut.log_down)) - 1;
        sharing_a_ = static_cast<std::uint16_t>(all / column << seat.down);
        sharing_b_ = static_cast<std::uint16_t>(column << (seat.across << cut.log_down));
      }
    }

    // The first stages: nobody has to release them, and others of a cluster need not have begun. What else is to be asked for stands
    // elsewhere, and a cold kernel waits for its instructions.
    __device__ __forceinline__ void ask_first(const WgmmaPlace& first) {
      corner_ = Corner(p_, first);
      constexpr int kFirst = 2;
      const int most = cut_.steps < kFirst ? cut_.steps : kFirst;
#pragma unroll 1
      for (; step_ < most; ++step_) ask<false>();
    }
    __device__ __forceinline__ void ask_others() {
#pragma unroll 1
      for (std::uint32_t tile = first_tile(cut_); tile < places_.tiles();) {
#pragma unroll 1
        for (; step_ < cut_.steps; ++step_) {
          wait_until_empty(shared_, sharing_, turn_);
          ask<kShares>();
        }
        step_ = 0;
        tile += clusters(cut_);
        corner_ = Corner(p_, place_of(places_, seat_, tile));
      }
      // The next kernel's blocks find no room before this one's leave: sooner, they would only be in the way.
      launch_dependents();
      // Others arrive at this block's barriers until its last stages are free: it does not return before that.
      if constexpr (kShares) {
#pragma unroll 1
        for (int s = 0; s < kStages; ++s) {
          wait_until_empty(shared_, sharing_, turn_);
          turn_.next();
        }
      }
    }

   private:
    struct Corner {  // of a tile, in the operands' maps
      int row = 0;
      int column = 0;
      int batch_a = 0;
      int batch_b = 0;
      Corner() = default;
      __device__ __forceinline__ Corner(const Problem& p, const WgmmaPlace& place)
          : row(place.row),
            column(place.column),
            batch_a(p.a.batch == 0 ? 0 : place.batch),
            batch_b(p.b.batch == 0 ? 0 : place.batch) {}
    };
    template <bool kForAll>
    __device__ __forceinline__ void ask() {
      std::byte* s_a = shared_.s_stages + turn_.stage * kStageBytes;
      std::byte* s_b = s_a + A::kBytes;
      Mbarrier* s_full = shared_.s_full + turn_.stage;
      mbarrier_arrive_expect_tx(s_full, kStageBytes);
      const Corner& at = corner_;
      const int line = step_ * kStepDepth;
      // In turn: whole boxes, since parts of them in each block's every step were slower.
      if constexpr (kForAll) {
        if (cut_.log_across == 0)
          A::load(s_a, map_a_, at.row, line, at.batch_a, s_full);
        else if ((step_ & ((1 << cut_.log_across) - 1)) == seat_.across)
          A::load_for_all(s_a, map_a_, at.row, line, at.batch_a, s_full, sharing_a_);
        if (cut_.log_down == 0)
          B::load(s_b, map_b_, at.column, line, at.batch_b, s_full);
        else if ((step_ & ((1 << cut_.log_down) - 1)) == seat_.down)
          B::load_for_all(s_b, map_b_, at.column, line, at.batch_b, s_full, sharing_b_);
      } else {
        A::load(s_a, map_a_, at.row, line, at.batch_a, s_full);
        B::load(s_b, map_b_, at.column, line, at.batch_b, s_full);
      }
      turn_.next();
    }

    const Problem& p_;
    const WgmmaCut& cut_;
    const WgmmaPlaces& places_;
    const TensorMap& map_a_;
    const TensorMap& map_b_;
    const Shared& shared_;
    const Seat& seat_;
    Sharing sharing_;
    std::uint16_t sharing_a_ = 0;  // the cluster's blocks with the same rows of a, a bit each
    std::uint16_t sharing_b_ = 0;
    Turn turn_;
    Corner corner_;  // of the tile
    int step_ = 0;   // that is asked for next
  };

  // The barriers are initialised, the kernels ahead have finished, and the first stages are asked for. Of a cluster, this block has arrived:
  // others may be asked for something after cluster_wait.
  __device__ __forceinline__ static void begin(const WgmmaCut& cut, const WgmmaPlaces& places,
                                               const Shared& shared, const Seat& seat, const TensorMap& map_a,
                                               const TensorMap& map_b, const TensorMap* map_out,
                                               Copier& copier) {
    WgmmaPlace first{};
    if (threadIdx.x == kCopier) {
      first = place_of(places, seat, first_tile(cut));
    } else if (threadIdx.x == 0) {
      prefetch_tensor_map(map_a);
      prefetch_tensor_map(map_b);
      for (int s = 0; s < kStages; ++s) {
        mbarrier_init(shared.s_full + s, 1);
        mbarrier_init(shared.s_empty + s, kShares ? kConsumers << cut.log_down : kConsumers);
        if constexpr (kShares) mbarrier_init(shared.s_empty + kStages + s, kConsumers << cut.log_across);
      }
      fence_mbarrier_init();
      if (map_out != nullptr) prefetch_tensor_map(*map_out);
    }
    wait_for_prerequisites();
    if constexpr (kShares) cluster_arrive_relaxed();
    __syncthreads();  // the barriers are initialised
    if (threadIdx.x == kCopier) copier.ask_first(first);
  }

  // By a warpgroup: the products of its rows of every tile.
  __device__ __forceinline__ static void multiply(const Problem& p, const WgmmaCut& cut,
                                                  const WgmmaPlaces& places, const RoundedWay& way,
                                                  const TensorMap& map_out, const Shared& shared,
                                                  const Seat& seat, int own) {
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    // One thread for each block that brings something to this one: its rank, and by which barrier that waits.
    const Sharing sharing(cut);
    const int beside = thread - sharing.below;
    const int rank = beside >= sharing.beside ? -1
                     : beside < 0             ? (seat.across << cut.log_down) + thread
                                              : (beside << cut.log_down) + seat.down;
    const int direction = beside < 0 ? 0 : kStages;
    const auto release = [&](int stage) {
      if constexpr (kShares) {
        if (rank >= 0)
          mbarrier_arrive_remote<MbarrierScope::block>(shared.s_empty + direction + stage,
                                                       static_cast<std::uint32_t>(rank));
      } else {
        if (thread == 0) mbarrier_arrive(shared.s_empty + stage);
      }
    };
    // Of those that multiply; asked for where it is needed, so that nothing of it waits in registers.
    const auto warp = [] { return (hidden(static_cast<int>(threadIdx.x)) - kWarpgroup) / 32; };
    Turn turn;
    for (std::uint32_t tile = first_tile(cut); tile < places.tiles(); tile += clusters(cut)) {
      // While the first stage is on its way.
      const WgmmaPlace place = place_of(places, seat, tile);
      const int row = place.row + 16 * warp();
      const typename Results::Bias bias(p, way, row, place.column);
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
      Results(sums.at, shared.staging, warp(), &map_out).give(p, way, bias, place.batch, row, place.column);
    }
    wait_for_results();
  }
};

template <class T, int kShape, bool kShares, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(RingKernel<T, kShape, kShares, kAlongA, kAlongB>::kThreads,
                                  gemm_plan::kWgmmaShapes[kShape].blocks)
    ring_kernel(const __grid_constant__ Problem p, const __grid_constant__ WgmmaCut cut,
                const __grid_constant__ WgmmaPlaces places, const __grid_constant__ TensorMap map_a,
                const __grid_constant__ TensorMap map_b, const __grid_constant__ TensorMap map_out,
                RoundedWay way) {
  using Kernel = RingKernel<T, kShape, kShares, kAlongA, kAlongB>;
  ROOFTILE_DYN_SHARED(unsigned char, s_raw);
  SharedCarve carve(s_raw);
  const typename Kernel::Shared shared(carve);
  const typename Kernel::Seat seat(cut);
  // Of a lane for all: the compiler then keeps what follows from it, down to wgmma's descriptors, in uniform registers. From
  // others it brings four there before each wgmma, which a small one does not hide.
  const int warpgroup = shuffle(static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  typename Kernel::Copier copier(p, cut, places, map_a, map_b, shared, seat);
  Kernel::begin(cut, places, shared, seat, map_a, map_b, way.by_engine ? &map_out : nullptr, copier);
  if (warpgroup == 0) {
    if constexpr (Kernel::kNeedsRegisters) setmaxnreg_dec<24>();
    if constexpr (kShares) cluster_wait();
    if (threadIdx.x == Kernel::kCopier) copier.ask_others();
  } else {
    if constexpr (Kernel::kNeedsRegisters) setmaxnreg_inc<240>();
    if constexpr (kShares) cluster_wait();
    Kernel::multiply(p, cut, places, way, map_out, shared, seat, warpgroup - 1);
  }
}

template <class T, int kShape, bool kShares, bool kAlongA, bool kAlongB>
Status launch_ring(const Call<GemmArgs>& call, const Problem& p, const gemm_plan::WgmmaOperands& operands,
                   const OperandData& data) {
  using Kernel = RingKernel<T, kShape, kShares, kAlongA, kAlongB>;
  const auto& cut = call.config<WgmmaCut>();
  OperandMaps<Kernel::kRows, Kernel::kColumns, kAlongA, kAlongB> maps;
  ROOFTILE_TRY(maps.make(call.args.a.dtype, operands, data));
  const RoundedWay way = rounded_way(call.args, p);
  TensorMap map_out{};
  if (way.by_engine) ROOFTILE_TRY(make_result_map(map_out, call.args.out.dtype, p));
  return launch(ring_kernel<T, kShape, kShares, kAlongA, kAlongB>,
                {.grid = dim3(static_cast<unsigned>(cut.blocks)),
                 .block = dim3(Kernel::kThreads),
                 .shared_bytes = shared_bytes<typename Kernel::Shared>(),
                 .stream = call.stream,
                 .cluster = dim3(1U << (cut.log_down + cut.log_across)),
                 .dependent = true},
                p, cut, Kernel::places_of(cut), maps.a, maps.b, map_out, way);
}
// launch_it.operator()<shape>() of one of kShapes.
template <bool kAlongB, int... kShapes, class Launch>
Status with_ring_shape(int shape, Launch launch_it) {
  Status status = unsupported("no shape of tiles for operands that lie so");
  const auto offer = [&]<int kShape>() {
    if constexpr (gemm_plan::has_wgmma_columns(kShape, kAlongB)) {
      if (shape == kShape) status = launch_it.template operator()<kShape>();
    }
  };
  (offer.template operator()<kShapes>(), ...);
  return status;
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
