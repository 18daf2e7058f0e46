// A few rows: the operands change places.
//
// Idea       wgmma multiplies 64 rows by as few columns as 8. So 64 columns of b are its rows, and the few rows of a, up to 64, its columns: a
//            tile of out is computed transposed. One thread asks TMA for all the stages that shared memory holds before anybody waits; where
//            tiles do not fill the GPU a cluster parts their steps along k, and adds up in distributed shared memory, always in the same order.
//            A b that L2 cannot hold anyway leaves it first, but for as much as an eighth of it, which the same call finds again; its first two
//            steps come there while the kernel ahead still runs.
// Change     warp_specialized's tiles of 64 rows and more, mostly empty, of which a few multiprocessors have all the work.
// Limits     sm_90a; f16, bf16; up to 64 rows, or columns; any strides (operands whose rows TMA cannot take are copied first); k of 1 and more.
// Bottleneck DRAM where b comes from there; where L2 has it what a launch, the first stages and the cluster's meeting take.
// Source     PTX ISA, wgmma, distributed shared memory, cache eviction priority hints, griddepcontrol; CUTLASS, swapped operands for skinny products.
#include <cstddef>
#include <cstdint>

#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm80/l2_policy.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/dependent_launch.h"
#include "rooftile/ops/gemm/rungs/few_results.h"
#include "rooftile/ops/gemm/rungs/wgmma_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

using gemm_plan::SwapCut;

// A step of one operand: slices of 64 along k, one behind the other.
template <int kOuter, bool kAlong>
struct StepOperand {
  using Slice = StageOperand<kOuter, kAlong>;
  static constexpr int kDepth = gemm_plan::kSwapDepth;
  static constexpr int kSlices = kDepth / kStepDepth;
  static constexpr int kBytes = kSlices * Slice::kBytes;
  static_assert(kAlong || kOuter == 64, "across k one box, as wide as a line of the swizzle");

  // Whether all slices come at once: k as lines of 64, of which none ends within a row.
  [[nodiscard]] static bool is_whole(const gemm_plan::WgmmaOperand& x) {
    return !kAlong || x.lines % kStepDepth == 0;
  }
  [[nodiscard]] static Status make_map(TensorMap& map, DType dtype, const void* data,
                                       const gemm_plan::WgmmaOperand& x) {
    TensorMapSpec spec{
        .data = const_cast<void*>(data), .dtype = dtype, .rank = 4, .swizzle = TileSwizzle::bytes128};
    const std::int64_t leading = kAlong ? x.outer : x.line;
    const std::int64_t matrix = leading * (kAlong ? x.outers : x.lines);
    const std::int64_t batch = x.batches == 1 ? matrix : x.batch;
    if (!kAlong) {
      spec.extents = {x.outers, x.lines, 1, x.batches};
      spec.strides = {1, leading, matrix, batch};
      spec.box = {kOuter, kDepth, 1, 1};
    } else if (is_whole(x)) {
      spec.extents = {kStepDepth, x.outers, x.lines / kStepDepth, x.batches};
      spec.strides = {1, leading, kStepDepth, batch};
      spec.box = {kStepDepth, kOuter, kSlices, 1};
    } else {
      spec.extents = {x.lines, x.outers, 1, x.batches};
      spec.strides = {1, leading, matrix, batch};
      spec.box = {kStepDepth, kOuter, 1, 1};
    }
    return make_tensor_map(map, spec);
  }
  // By one thread: take(offset, coordinates) of each box of a step of rows (columns) from `outer` on; what is outside comes as zeros.
  template <class Take>
  __device__ __forceinline__ static void boxes(int outer, int step, int batch, bool whole, Take take) {
    if (!kAlong) {
      take(0, {outer, step * kDepth, 0, batch});
    } else if (whole) {
      take(0, {0, outer, step * kSlices, batch});
    } else {
#pragma unroll
      for (int slice = 0; slice < kSlices; ++slice)
        take(slice * Slice::kBytes, {(step * kSlices + slice) * kStepDepth, outer, 0, batch});
    }
  }
};

// What a launch knows of its operands and results.
struct SwapWay {
  FewWay few;
  bool has_batch_a;
  bool has_batch_b;
  bool whole_a;  // a step comes by one request
  bool whole_b;
  bool leaves_first;  // b: L2 cannot hold it from one launch to the next
  int kept;           // tiles of which it comes to stay all the same
};

// kRows: of a, with what is empty. kAlongA, kAlongB: k runs along memory.
template <class T, int kRows, bool kAlongA, bool kAlongB>
struct SwapKernel {
  static constexpr int kColumns = gemm_plan::kSwapColumns;
  static constexpr int kThreads = kWarpgroup + 32;  // a warp behind those that multiply asks for stages
  using A = StepOperand<kRows, kAlongA>;
  using B = StepOperand<kColumns, kAlongB>;
  static constexpr int kSlices = A::kSlices;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;
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
    int of_b;  // which of b's tiles
    int column;
    int first;
    int end;
  };
  // Where steps come from.
  struct Source {
    const TensorMap& map_a;
    const TensorMap& map_b;
    const SwapWay& way;
    L2Policy policy_of_b;
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

  using At = const std::int32_t (&)[4];
  __device__ __forceinline__ static void ask(const Share& share, const Source& source, const Shared& shared,
                                             int stage, int step) {
    std::byte* s_stage = shared.s_stages + stage * kStageBytes;
    Mbarrier* s_full = shared.s_full + stage;
    mbarrier_arrive_expect_tx(s_full, kStageBytes);
    B::boxes(share.column, step, share.batch_b, source.way.whole_b, [&](int offset, At at) {
      tma_load_by_policy(s_stage + offset, source.map_b, at, s_full, source.policy_of_b);
    });
    A::boxes(0, step, share.batch_a, source.way.whole_a,
             [&](int offset, At at) { tma_load(s_stage + B::kBytes + offset, source.map_a, at, s_full); });
  }
  // By one thread, while the kernel ahead may still write b: what it brings is L2's, which knows of that.
  __device__ __forceinline__ static void bring_early(const Share& share, const Source& source) {
    constexpr int kEarly = 2;
    for (int step = share.first; step < share.end && step < share.first + kEarly; ++step)
      B::boxes(share.column, step, share.batch_b, source.way.whole_b,
               [&](int, At at) { tma_prefetch_by_policy(source.map_b, at, source.policy_of_b); });
  }
  // By one thread: the barriers, and as many stages as there are, before others know of either. No other thread reads or writes global memory
  // before it is known.
  __device__ __forceinline__ static void begin(const Share& share, const Source& source,
                                               const Shared& shared) {
    prefetch_tensor_map(source.map_b);
    prefetch_tensor_map(source.map_a);
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(shared.s_full + s, 1);
      mbarrier_init(shared.s_empty + s, 1);
    }
    fence_mbarrier_init();
    wait_for_prerequisites();
    for (int s = 0; s < kStages && share.first + s < share.end; ++s)
      ask(share, source, shared, s, share.first + s);
  }
  // By the same thread: the other steps. The next kernel's blocks come behind them: sooner, they would stand where this one's are to.
  __device__ __forceinline__ static void copy(const Share& share, const Source& source,
                                              const Shared& shared) {
    Turn turn;
    for (int step = share.first + kStages; step < share.end; ++step) {
      mbarrier_wait(shared.s_empty + turn.stage, turn.parity);
      ask(share, source, shared, turn.stage, step);
      turn.next();
    }
    launch_dependents();
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
        sums.template add<typename B::Slice, typename A::Slice>(
            s_stage + slice * B::Slice::kBytes, s_stage + B::kBytes + slice * A::Slice::kBytes, 0,
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

// out: that of the call.
template <class T, int kRows, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(SwapKernel<T, kRows, kAlongA, kAlongB>::kThreads,
                                  SwapKernel<T, kRows, kAlongA, kAlongB>::kBlocks)
    swap_kernel(const __grid_constant__ Problem out, const __grid_constant__ SwapCut cut,
                const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
                const __grid_constant__ SwapWay way) {
  using Kernel = SwapKernel<T, kRows, kAlongA, kAlongB>;
  ROOFTILE_DYN_SHARED(unsigned char, s_raw);
  SharedCarve carve(s_raw);
  const typename Kernel::Shared shared(carve);
  const auto part = static_cast<int>(cluster_rank());
  const unsigned place = blockIdx.x / static_cast<unsigned>(cut.parts);
  const auto batch = static_cast<int>(place / static_cast<unsigned>(cut.tile_columns));
  const unsigned strip = place % static_cast<unsigned>(cut.tile_columns);
  const typename Kernel::Share share = {.batch_a = way.has_batch_a ? batch : 0,
                                        .batch_b = way.has_batch_b ? batch : 0,
                                        .of_b = static_cast<int>(way.has_batch_b ? place : strip),
                                        .column = static_cast<int>(strip) * Kernel::kColumns,
                                        .first = gemm_plan::first_step(cut.steps, cut.parts, part),
                                        .end = gemm_plan::first_step(cut.steps, cut.parts, part + 1)};
  const typename Kernel::Source source = {
      .map_a = map_a,
      .map_b = map_b,
      .way = way,
      .policy_of_b = way.leaves_first && share.of_b >= way.kept ? l2_evict_first() : l2_evict_normal()};
  const bool is_copier = threadIdx.x == kWarpgroup;
  if (threadIdx.x == 0 && way.leaves_first) Kernel::bring_early(share, source);
  if (is_copier) Kernel::begin(share, source, shared);
  __syncthreads();  // the barriers are initialised
  WarpgroupSums<T, kRows> sums;
  if (threadIdx.x < kWarpgroup)
    Kernel::multiply(sums, share, shared);
  else if (is_copier)
    Kernel::copy(share, source, shared);
  const FewTile tile(reinterpret_cast<float*>(shared.s_stages), kRows, Kernel::kColumns, way.few.is_turned);
  if (threadIdx.x < kWarpgroup) Kernel::gather(sums, tile);
  // A block's share of the rows of out.
  const std::int64_t rows = way.few.is_turned ? out.m - share.column : out.m;
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
  tile.give<T, Kernel::kThreads>(out, way.few.rounded, batch, share.column, first, end);
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
  const DType dtype = call.args.a.dtype;
  ROOFTILE_TRY(Kernel::A::make_map(map_a, dtype, data.a, operands.a));
  ROOFTILE_TRY(Kernel::B::make_map(map_b, dtype, data.b, operands.b));
  const SwapWay way = {.few = few_way(call.args, out),
                       .has_batch_a = few.a.batch != 0,
                       .has_batch_b = few.b.batch != 0,
                       .whole_a = Kernel::A::is_whole(operands.a),
                       .whole_b = Kernel::B::is_whole(operands.b),
                       .leaves_first = !gemm_plan::fits_in_l2(few, call.device),
                       .kept = gemm_plan::kept_tiles(few, call.device)};
  return launch(swap_kernel<T, kRows, kAlongA, kAlongB>,
                {.grid = dim3(static_cast<unsigned>(cut.blocks())),
                 .block = dim3(Kernel::kThreads),
                 .shared_bytes = shared_bytes<typename Kernel::Shared>(),
                 .stream = call.stream,
                 .cluster = dim3(static_cast<unsigned>(cut.parts)),
                 .dependent = true},
                out, cut, map_a, map_b, way);
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
