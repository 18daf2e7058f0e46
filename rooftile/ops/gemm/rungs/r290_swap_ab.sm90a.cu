// A few rows: the operands change places.
//
// Idea       wgmma multiplies 64 rows by as few columns as 8. So 64 columns of b are its rows, and the few rows of a, up to 64, its columns: a
//            tile of out is computed transposed. One thread asks TMA for all the stages that shared memory holds before anybody waits; where
//            tiles do not fill the GPU a cluster parts their steps along k, and adds up in distributed shared memory, always in the same order.
// Change     warp_specialized's tiles of 64 rows and more, mostly empty, of which a few multiprocessors have all the work.
// Limits     sm_90a; f16, bf16; up to 64 rows, or columns; any strides (operands whose rows TMA cannot take are copied first); k of 1 and more.
// Bottleneck DRAM where b comes from there; where L2 has it what a launch, the first stages and the cluster's meeting take.
// Source     PTX ISA, wgmma, distributed shared memory; CUTLASS, swapped operands for skinny products.
#include <cstddef>
#include <cstdint>

#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/ops/gemm/rungs/few_results.h"
#include "rooftile/ops/gemm/rungs/wgmma_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

using gemm_plan::SwapCut;

// kRows: of a, with what is empty. kAlongA, kAlongB: k runs along memory.
template <class T, int kRows, bool kAlongA, bool kAlongB>
struct SwapKernel {
  static constexpr int kColumns = gemm_plan::kSwapColumns;
  static constexpr int kThreads = kWarpgroup + 32;  // a warp behind those that multiply asks for stages
  using A = StageOperand<kRows, kAlongA>;
  using B = StageOperand<kColumns, kAlongB>;
  static constexpr int kSlices = gemm_plan::kSwapDepth / kStepDepth;  // of a step
  static constexpr int kSliceBytes = A::kBytes + B::kBytes;
  static constexpr int kStageBytes = kSlices * kSliceBytes;
  // Two blocks on a multiprocessor, each with half of 227 KB, of which a launch takes 1 KB; 1 KB for the barriers.
  static constexpr int kBlocks = 2;
  static constexpr int kStages = (228 / kBlocks - 2) * 1024 / kStageBytes;
  static_assert(sizeof(float) * FewTile::floats(kRows, kColumns) <= std::size_t{kStages} * kStageBytes,
                "sums lie where stages were");

  struct Shared {
    std::byte* s_stages;  // [kStages][kStageBytes]
    Mbarrier* s_full;     // [kStages]: its bytes are there
    Mbarrier* s_empty;    // [kStages]: it has been read
    __host__ __device__ explicit Shared(SharedCarve& carve)
        : s_stages(carve.array<std::byte>(std::size_t{kStages} * kStageBytes, 1024)),
          s_full(carve.array<Mbarrier>(kStages)),
          s_empty(carve.array<Mbarrier>(kStages)) {}
  };
  // What a block has of a tile: steps `first` to `end`.
  struct Share {
    int batch_a;
    int batch_b;
    int column;
    int first;
    int end;
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

  __device__ __forceinline__ static void ask(const Share& share, const TensorMap& map_a,
                                             const TensorMap& map_b, const Shared& shared, int stage,
                                             int step) {
    std::byte* s_stage = shared.s_stages + stage * kStageBytes;
    Mbarrier* s_full = shared.s_full + stage;
    mbarrier_arrive_expect_tx(s_full, kStageBytes);
    // Neighbours of a row of b one behind the other.
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
      B::load(s_stage + slice * kSliceBytes, map_b, share.column, (step * kSlices + slice) * kStepDepth,
              share.batch_b, s_full);
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
      A::load(s_stage + slice * kSliceBytes + B::kBytes, map_a, 0, (step * kSlices + slice) * kStepDepth,
              share.batch_a, s_full);
  }
  // By one thread: the barriers, and as many stages as there are, before others know of either.
  __device__ __forceinline__ static void begin(const Share& share, const TensorMap& map_a,
                                               const TensorMap& map_b, const Shared& shared) {
    prefetch_tensor_map(map_b);
    prefetch_tensor_map(map_a);
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(shared.s_full + s, 1);
      mbarrier_init(shared.s_empty + s, 1);
    }
    fence_mbarrier_init();
    for (int s = 0; s < kStages && share.first + s < share.end; ++s)
      ask(share, map_a, map_b, shared, s, share.first + s);
  }
  // By the same thread: the other steps.
  __device__ __forceinline__ static void copy(const Share& share, const TensorMap& map_a,
                                              const TensorMap& map_b, const Shared& shared) {
    Turn turn;
    for (int step = share.first + kStages; step < share.end; ++step) {
      mbarrier_wait(shared.s_empty + turn.stage, turn.parity);
      ask(share, map_a, map_b, shared, turn.stage, step);
      turn.next();
    }
  }
  __device__ __forceinline__ static void multiply(WarpgroupSums<T, kRows>& sums, const Share& share,
                                                  const Shared& shared) {
    Turn turn;
    int before = 0;  // the stage of the product that is still under way
    for (int step = share.first; step < share.end; ++step) {
      mbarrier_wait(shared.s_full + turn.stage, turn.parity);
      const std::byte* s_stage = shared.s_stages + turn.stage * kStageBytes;
#pragma unroll
      for (int slice = 0; slice < kSlices; ++slice)
        sums.template add<B, A>(s_stage + slice * kSliceBytes, s_stage + slice * kSliceBytes + B::kBytes, 0,
                                slice > 0 || step > share.first);
      wgmma_wait<kSlices>();
      if (step > share.first && threadIdx.x == 0) mbarrier_arrive(shared.s_empty + before);
      before = turn.stage;
      turn.next();
    }
    wgmma_wait<0>(sums.at);  // the warpgroup has read all stages: sums may lie there
  }
  __device__ __forceinline__ static void gather(const WarpgroupSums<T, kRows>& sums, const FewTile& tile) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int column = static_cast<int>(threadIdx.x) / 32 * 16 + lane / 4;
#pragma unroll
    for (int s = 0; s < kRows / 2; ++s)
      tile.at(s / 4 * 8 + lane % 4 * 2 + s % 2, column + s / 2 % 2 * 8) = sums.at[s];
  }
  // What all blocks of the cluster have of some rows of out, in the order of the parts. Nobody else reads these of this block.
  __device__ __forceinline__ static void add_parts(const FewTile& tile, int first, int end, int parts) {
    constexpr int kEach = kVecElements<float>;
    const int line = tile.width() / kEach;
#pragma unroll 1
    for (int v = static_cast<int>(threadIdx.x); v < (end - first) * line; v += kThreads) {
      float* s_own = tile.row(first + v / line) + v % line * kEach;
      Vec<float, kEach> sum{};
#pragma unroll 4
      for (int part = 0; part < parts; ++part) {
        const auto other = load_vec(map_shared_rank(s_own, static_cast<std::uint32_t>(part)));
#pragma unroll
        for (int e = 0; e < kEach; ++e) sum[e] += other[e];
      }
      store_vec(s_own, sum);
    }
  }
};

// out: that of the call. has_batch: whether a and b have one.
template <class T, int kRows, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(SwapKernel<T, kRows, kAlongA, kAlongB>::kThreads,
                                  SwapKernel<T, kRows, kAlongA, kAlongB>::kBlocks)
    swap_kernel(const __grid_constant__ Problem out, const __grid_constant__ SwapCut cut,
                const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, FewWay way,
                bool has_batch_a, bool has_batch_b) {
  using Kernel = SwapKernel<T, kRows, kAlongA, kAlongB>;
  ROOFTILE_DYN_SHARED(unsigned char, s_raw);
  SharedCarve carve(s_raw);
  const typename Kernel::Shared shared(carve);
  const auto part = static_cast<int>(cluster_rank());
  const unsigned place = blockIdx.x / static_cast<unsigned>(cut.parts);
  const auto batch = static_cast<int>(place / static_cast<unsigned>(cut.tile_columns));
  const typename Kernel::Share share = {
      .batch_a = has_batch_a ? batch : 0,
      .batch_b = has_batch_b ? batch : 0,
      .column = static_cast<int>(place % static_cast<unsigned>(cut.tile_columns)) * Kernel::kColumns,
      .first = gemm_plan::first_step(cut.steps, cut.parts, part),
      .end = gemm_plan::first_step(cut.steps, cut.parts, part + 1)};
  const bool is_copier = threadIdx.x == kWarpgroup;
  if (is_copier) Kernel::begin(share, map_a, map_b, shared);
  __syncthreads();  // the barriers are initialised
  WarpgroupSums<T, kRows> sums;
  if (threadIdx.x < kWarpgroup)
    Kernel::multiply(sums, share, shared);
  else if (is_copier)
    Kernel::copy(share, map_a, map_b, shared);
  const FewTile tile(reinterpret_cast<float*>(shared.s_stages), kRows, Kernel::kColumns, way.is_turned);
  if (threadIdx.x < kWarpgroup) Kernel::gather(sums, tile);
  // A block's share of the rows of out.
  const std::int64_t rows = way.is_turned ? out.m - share.column : out.m;
  const int first = tile.rows() / cut.parts * part;
  const auto end = static_cast<int>(smaller(tile.rows() / cut.parts * (part + 1), rows));
  if (cut.parts == 1) {
    __syncthreads();  // the sums are there
  } else {
    cluster_sync();  // all blocks' sums are there
    Kernel::add_parts(tile, first, end, cut.parts);
    cluster_arrive();
    __syncthreads();  // these rows' are whole
  }
  tile.give<T, Kernel::kThreads>(out, way.rounded, batch, share.column, first, end);
  if (cut.parts > 1) cluster_wait();  // nobody reads another block's shared memory any more
}

template <class T, int kRows, bool kAlongA, bool kAlongB>
Status launch_swap(const Call<GemmArgs>& call, const Problem& few, const gemm_plan::WgmmaOperands& operands,
                   const OperandData& data) {
  using Kernel = SwapKernel<T, kRows, kAlongA, kAlongB>;
  const auto& cut = call.config<SwapCut>();
  const Problem out = gemm_plan::problem_of(call.args);
  TensorMap map_a;
  TensorMap map_b;
  ROOFTILE_TRY((make_operand_map<kRows, kAlongA>(map_a, call.args.a.dtype, data.a, operands.a)));
  ROOFTILE_TRY((make_operand_map<Kernel::kColumns, kAlongB>(map_b, call.args.a.dtype, data.b, operands.b,
                                                            L2Promotion::bytes256)));
  return launch(swap_kernel<T, kRows, kAlongA, kAlongB>,
                {.grid = dim3(static_cast<unsigned>(cut.blocks())),
                 .block = dim3(Kernel::kThreads),
                 .shared_bytes = shared_bytes<typename Kernel::Shared>(),
                 .stream = call.stream,
                 .cluster = dim3(static_cast<unsigned>(cut.parts))},
                out, cut, map_a, map_b, few_way(call.args, out), few.a.batch != 0, few.b.batch != 0);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem few = gemm_plan::skinny_problem_of(call.args);
  if (few.is_empty()) return {};
  const auto& cut = call.config<SwapCut>();
  if (cut.blocks() > kMaxGrid) return unsupported("more than 2^31 - 1 blocks");
  return with_layouts_of(call, few,
                         [&]<class T, bool kAlongA, bool kAlongB>(const auto&... operands) -> Status {
                           // Rows that lie across k come as boxes of 64.
                           if constexpr (kAlongA) {
                             switch (cut.rows) {
                               case 8:
                                 return launch_swap<T, 8, true, kAlongB>(call, operands...);
                               case 16:
                                 return launch_swap<T, 16, true, kAlongB>(call, operands...);
                               case 32:
                                 return launch_swap<T, 32, true, kAlongB>(call, operands...);
                               default:
                                 break;
                             }
                           }
                           return launch_swap<T, 64, kAlongA, kAlongB>(call, operands...);
                         });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
