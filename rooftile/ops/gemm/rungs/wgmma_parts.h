// A narrow tile, or a part of one along k, for each block: deep stages, and sums that meet in the cluster.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/dependent_launch.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/rungs/rounded_output.h"
#include "rooftile/ops/gemm/rungs/wgmma_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::PartsCut;

// A stage of one operand, kPartDepth along k: kOuter rows of a, or columns of b. Along k it is two boxes, one behind the other; across k
// more than 64 are two, side by side.
template <int kOuter, bool kAlong>
struct DeepOperand {
  static constexpr int kDepth = gemm_plan::kPartDepth;
  static constexpr int kSpan = kAlong || kOuter > 64 ? 64 : kOuter;  // elements of a line
  static constexpr int kBoxes = kAlong ? 1 : (kOuter + 63) / 64;     // side by side
  static constexpr int kBytes = (kAlong ? kOuter : kBoxes * kSpan) * kDepth * 2;
  static constexpr auto kSwizzle = static_cast<TileSwizzle>(2 * kSpan);
  static constexpr int kLineBytes = 2 * kSpan;
  static constexpr std::uint32_t kSliceBytes = kAlong ? 32 : 16 * kLineBytes;     // to the next 16 along k
  static constexpr int kHalfBytes = (kAlong ? kOuter : kStepDepth) * kLineBytes;  // to the next 64
  static constexpr int kBoxBytes = kDepth * kLineBytes;
  static_assert(kOuter % 8 == 0 && kOuter <= 256);

  // Whether both boxes come at once: k as lines of 64, of which none ends within a row.
  [[nodiscard]] static bool is_whole(const gemm_plan::WgmmaOperand& x) { return x.lines % kStepDepth == 0; }
  [[nodiscard]] static Status make_map(TensorMap& map, DType dtype, const void* data,
                                       const gemm_plan::WgmmaOperand& x) {
    TensorMapSpec spec{.data = const_cast<void*>(data), .dtype = dtype, .rank = 4, .swizzle = kSwizzle};
    const std::int64_t leading = kAlong ? x.outer : x.line;
    const std::int64_t matrix = leading * (kAlong ? x.outers : x.lines);
    const std::int64_t batch = x.batches == 1 ? matrix : x.batch;
    if (!kAlong) {
      spec.extents = {x.outers, x.lines, 1, x.batches};
      spec.strides = {1, leading, matrix, batch};
      spec.box = {kSpan, kDepth, 1, 1};
    } else if (is_whole(x)) {
      spec.extents = {kStepDepth, x.outers, x.lines / kStepDepth, x.batches};
      spec.strides = {1, leading, kStepDepth, batch};
      spec.box = {kStepDepth, kOuter, kDepth / kStepDepth, 1};
    } else {
      spec.extents = {x.lines, x.outers, 1, x.batches};
      spec.strides = {1, leading, matrix, batch};
      spec.box = {kStepDepth, kOuter, 1, 1};
    }
    return make_tensor_map(map, spec);
  }
  // By one thread: from row (column) `outer` on; what is outside comes as zeros.
  __device__ __forceinline__ static void load(std::byte* s_stage, const TensorMap& map, int outer, int step,
                                              int batch, bool whole, Mbarrier* s_full) {
    const int line = step * kDepth;
    if (!kAlong) {
#pragma unroll
      for (int box = 0; box < kBoxes; ++box)
        tma_load(s_stage + box * kBoxBytes, map, {outer + box * kSpan, line, 0, batch}, s_full);
    } else if (whole) {
      tma_load(s_stage, map, {0, outer, line / kStepDepth, batch}, s_full);
    } else {
      tma_load(s_stage, map, {line, outer, 0, batch}, s_full);
      tma_load(s_stage + kHalfBytes, map, {line + kStepDepth, outer, 0, batch}, s_full);
    }
  }
  __device__ __forceinline__ static auto descriptor(const std::byte* s_half) {
    if constexpr (kAlong)
      return k_major_descriptor(s_half, kSwizzle);
    else
      return mn_major_descriptor(s_half, kSwizzle, kBoxBytes);
  }
};

// kShape: of gemm_plan::kPartShapes.
template <class T, int kShape, bool kAlongA, bool kAlongB>
struct PartsKernel {
  static constexpr int kRows = gemm_plan::kPartRows;
  static constexpr int kColumns = gemm_plan::kPartShapes[kShape].columns;
  static constexpr int kThreads = kWarpgroup + 32;  // one warpgroup multiplies, a warp copies
  static_assert(kRows == kWarpgroupRows);
  using A = DeepOperand<kRows, kAlongA>;
  using B = DeepOperand<kColumns, kAlongB>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;
  static constexpr int kSumBytes = kRows * kColumns * 4;
  static constexpr int kMost = (225 * 1024 - kSumBytes) / kStageBytes;
  static constexpr int kStages = kMost < 8 ? kMost : 8;

  struct Shared {
    std::byte* s_stages;  // [kStages][kStageBytes]
    float* s_sums;        // of this block's share of the rows, from every part; as Sums::at says
    Mbarrier* s_full;     // [kStages]: its bytes are there
    Mbarrier* s_empty;    // [kStages]: it has been read
    Mbarrier* s_arrived;  // the sums of all parts are there
    __host__ __device__ explicit Shared(SharedCarve& carve)
        : s_stages(carve.array<std::byte>(std::size_t{kStages} * kStageBytes, 1024)),
          s_sums(carve.array<float>(kSumBytes / 4, 128)),
          s_full(carve.array<Mbarrier>(kStages)),
          s_empty(carve.array<Mbarrier>(kStages)),
          s_arrived(carve.one<Mbarrier>()) {}
  };

  // What a block has to do.
  struct Work {
    unsigned part;
    int batch;
    int row;
    int column;
    int first;  // step
    int steps;
    __device__ __forceinline__ explicit Work(const PartsCut& cut)
        : part(cut.log_parts > 0 ? cluster_rank() : 0),
          batch(static_cast<int>(blockIdx.z)),
          row(static_cast<int>(blockIdx.x >> cut.log_parts) * kRows),
          column(static_cast<int>(blockIdx.y) * kColumns),
          first(step_of(cut, part)),
          steps(step_of(cut, part + 1) - first) {}
    __device__ __forceinline__ static int step_of(const PartsCut& cut, unsigned part) {
      return static_cast<int>(std::int64_t{cut.steps} * part >> cut.log_parts);
    }
  };

  // What one thread asks for: a block's stages, the first one before others know the barriers. No other thread reads or writes global memory
  // before a stage is there, and so before the kernels ahead have finished.
  class Copier {
   public:
    __device__ __forceinline__ Copier(const Problem& p, const PartsCut& cut, const TensorMap& map_a,
                                      const TensorMap& map_b, const Shared& shared, const Work& work)
        : cut_(cut),
          map_a_(map_a),
          map_b_(map_b),
          shared_(shared),
          work_(work),
          batch_a_(p.a.batch == 0 ? 0 : work.batch),
          batch_b_(p.b.batch == 0 ? 0 : work.batch) {}
    __device__ __forceinline__ void begin() {
      prefetch_tensor_map(map_a_);
      prefetch_tensor_map(map_b_);
#pragma unroll
      for (int s = 0; s < kStages; ++s) {
        mbarrier_init(shared_.s_full + s, 1);
        mbarrier_init(shared_.s_empty + s, 1);
      }
      fence_mbarrier_init();
      wait_for_prerequisites();
      ask(0);
    }
    __device__ __forceinline__ void ask_others() {
#pragma unroll 1
      for (int step = 1; step < work_.steps; ++step) {
        if (step >= kStages) mbarrier_wait(shared_.s_empty + step % kStages, (step / kStages + 1) % 2);
        ask(step);
      }
      launch_dependents();
    }

   private:
    __device__ __forceinline__ void ask(int step) {
      const int stage = step % kStages;
      std::byte* s_a = shared_.s_stages + stage * kStageBytes;
      Mbarrier* s_full = shared_.s_full + stage;
      mbarrier_arrive_expect_tx(s_full, kStageBytes);
      A::load(s_a, map_a_, work_.row, work_.first + step, batch_a_, cut_.whole, s_full);
      B::load(s_a + A::kBytes, map_b_, work_.column, work_.first + step, batch_b_, cut_.whole, s_full);
    }
    const PartsCut& cut_;
    const TensorMap& map_a_;
    const TensorMap& map_b_;
    const Shared& shared_;
    const Work& work_;
    int batch_a_;
    int batch_b_;
  };

  // By the warpgroup.
  __device__ __forceinline__ static void multiply(WarpgroupSums<T, kColumns>& sums, const Shared& shared,
                                                  int steps) {
    int stage = 0;
    unsigned parity = 0;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const std::byte* s_a = shared.s_stages + stage * kStageBytes;
      mbarrier_wait(shared.s_full + stage, parity);
      wgmma_fence();
#pragma unroll
      for (int half = 0; half < gemm_plan::kPartDepth / kStepDepth; ++half) {
        const auto a = A::descriptor(s_a + half * A::kHalfBytes);
        const auto b = B::descriptor(s_a + A::kBytes + half * B::kHalfBytes);
#pragma unroll
        for (int slice = 0; slice < kStepDepth / 16; ++slice)
          wgmma<T>(sums.at, a.advanced(slice * A::kSliceBytes), b.advanced(slice * B::kSliceBytes),
                   step > 0 || half > 0 || slice > 0);
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (step > 0 && threadIdx.x == 0)
        mbarrier_arrive(shared.s_empty + (stage == 0 ? kStages : stage) - 1);  // of the step before
      if (++stage == kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
    wgmma_wait<0>(sums.at);
  }

  // Sums as they lie in shared memory: 16 rows by 8 columns as a warp's lanes have them, four each: of a row r and of r + 8. Lanes change
  // places by the column and by the row, so that what eight lanes read at once, of either width of a tile, is in banks of its own.
  __device__ __forceinline__ static int sums_at(int rows16, int columns8, int lane) {
    const int place = lane ^ columns8 % 8 ^ lane / 8 % 2 * 2;
    return ((rows16 * (kColumns / 8) + columns8) * 32 + place) * 4;
  }
  using Sums4 = Vec<float, 4>;

  // Each warp's 16 rows to the block that has them, at the place of this part.
  __device__ __forceinline__ static void send(const WarpgroupSums<T, kColumns>& sums, const PartsCut& cut,
                                              const Shared& shared, unsigned part, int warp, int lane) {
    const int share16 = kRows / 16 >> cut.log_parts;
    const auto owner = static_cast<unsigned>(warp / share16);
    const int rows16 = static_cast<int>(part) * share16 + warp % share16;
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
      const Sums4 vec{{sums.at[4 * j], sums.at[4 * j + 1], sums.at[4 * j + 2], sums.at[4 * j + 3]}};
      float* s_to = shared.s_sums + sums_at(rows16, j, lane);
      if (cut.log_parts > 0)
        store_async(reinterpret_cast<Sums4*>(s_to), vec, shared.s_arrived, owner);
      else
        store_vec(s_to, vec);
    }
  }

  // The sum of all parts of rows r and r + 8 of 16, 8 columns of each.
  struct Rows2 {
    float at[2][8];
    __device__ __forceinline__ Rows2(const PartsCut& cut, const Shared& shared, int rows16, int r,
                                     int columns8) {
      const int share16 = kRows / 16 >> cut.log_parts;
#pragma unroll
      for (int e = 0; e < 4; ++e)
        take(load_vec(shared.s_sums + sums_at(rows16, columns8, 4 * r + e)), e, false);
#pragma unroll 1
      for (int q = 1; q < 1 << cut.log_parts; ++q) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          take(load_vec(shared.s_sums + sums_at(q * share16 + rows16, columns8, 4 * r + e)), e, true);
      }
    }
    __device__ __forceinline__ void take(const Sums4& vec, int e, bool adds) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& sum = at[i / 2][2 * e + i % 2];
        sum = adds ? sum + vec[i] : vec[i];
      }
    }
  };

  // `threads` threads, this one number `thread`: what the block has of out, count16 times 16 rows from rows16 of its share on.
  struct Share {
    int rows16;
    int count16;
    int thread;
    int threads;
  };
  __device__ __forceinline__ static void give(const Problem& p, const RoundedWay& way, const PartsCut& cut,
                                              const Shared& shared, const Work& work, const Share& share) {
    constexpr int kLine = kColumns / 8;
    const int own_row = work.row + static_cast<int>(work.part) * (kRows >> cut.log_parts);
    T* g_out = static_cast<T*>(p.out_data) + work.batch * p.out.batch;
    const RoundedOutput<T> output(p, way, work.batch);
#pragma unroll 1
    for (int v = share.thread; v < share.count16 * 8 * kLine; v += share.threads) {
      const int columns8 = v % kLine;
      const int r = v / kLine % 8;
      const int rows16 = share.rows16 + v / (8 * kLine);
      const Rows2 sums(cut, shared, rows16, r, columns8);
      const std::int64_t i = own_row + rows16 * 16 + r;
      const std::int64_t j = work.column + columns8 * 8;
      if (way.is_plain && way.vectors) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          Vec<T, 8> vec;
#pragma unroll
          for (int e = 0; e < 8; ++e) vec[e] = rounded<T>(way.alpha * sums.at[half][e]);
          if (i + 8 * half < p.m && j < p.n)
            store_vec<StorePolicy::no_allocate>(g_out + (i + 8 * half) * p.out.row + j, vec);
        }
      } else {
        // By way of the place where they came from, which nobody else reads: registers have no index that is known only here.
        float* s_own = shared.s_sums;
#pragma unroll
        for (int e = 0; e < 4; ++e)
          store_vec(
              s_own + sums_at(rows16, columns8, 4 * r + e),
              Sums4{{sums.at[0][2 * e], sums.at[0][2 * e + 1], sums.at[1][2 * e], sums.at[1][2 * e + 1]}});
#pragma unroll 1
        for (int e = 0; e < 16; ++e)
          output.give(s_own[sums_at(rows16, columns8, 4 * r + e % 8 / 2) + e / 8 * 2 + e % 2], i + e / 8 * 8,
                      j + e % 8);
      }
    }
  }
};

template <class T, int kShape, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(PartsKernel<T, kShape, kAlongA, kAlongB>::kThreads)
    parts_kernel(const __grid_constant__ Problem p, const __grid_constant__ PartsCut cut,
                 const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
                 RoundedWay way) {
  using Kernel = PartsKernel<T, kShape, kAlongA, kAlongB>;
  ROOFTILE_DYN_SHARED(unsigned char, s_raw);
  SharedCarve carve(s_raw);
  const typename Kernel::Shared shared(carve);
  const typename Kernel::Work work(cut);
  const bool is_parted = cut.log_parts > 0;
  // Of a lane for all: what follows from it then stands in uniform registers.
  const int warp = shuffle(static_cast<int>(threadIdx.x) / 32, 0);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool copies = warp == kWarpgroup / 32;
  typename Kernel::Copier copier(p, cut, map_a, map_b, shared, work);
  if (copies) {
    if (lane == 0) copier.begin();
    if (is_parted) cluster_arrive_relaxed();
  } else if (is_parted) {
    if (threadIdx.x == 0) {
      mbarrier_init(shared.s_arrived, 1);
      fence_mbarrier_init();
      mbarrier_arrive_expect_tx(shared.s_arrived, Kernel::kSumBytes);
    }
    cluster_arrive();
  }
  __syncthreads();  // the stages' barriers are initialised
  if (copies) {
    if (lane == 0) copier.ask_others();
    if (is_parted) cluster_wait();
    return;
  }
  WarpgroupSums<T, Kernel::kColumns> sums;
  Kernel::multiply(sums, shared, work.steps);
  if (is_parted) {
    cluster_wait();  // all blocks have begun, and initialised s_arrived
    Kernel::send(sums, cut, shared, work.part, warp, lane);
    mbarrier_wait<MbarrierScope::cluster>(shared.s_arrived, 0);
    Kernel::give(p, way, cut, shared, work,
                 {.rows16 = 0,
                  .count16 = Kernel::kRows / 16 >> cut.log_parts,
                  .thread = static_cast<int>(threadIdx.x),
                  .threads = kWarpgroup});
  } else {
    Kernel::send(sums, cut, shared, 0, warp, lane);
    __syncwarp();  // a warp's rows are its own
    Kernel::give(p, way, cut, shared, work, {.rows16 = warp, .count16 = 1, .thread = lane, .threads = 32});
  }
}

template <class T, int kShape, bool kAlongA, bool kAlongB>
Status launch_parts(const Call<GemmArgs>& call, const Problem& p, const gemm_plan::WgmmaOperands& operands,
                    const OperandData& data) {
  using Kernel = PartsKernel<T, kShape, kAlongA, kAlongB>;
  PartsCut cut = call.config<PartsCut>();
  cut.whole = p.k % kStepDepth == 0;
  TensorMap map_a;
  TensorMap map_b;
  ROOFTILE_TRY(Kernel::A::make_map(map_a, call.args.a.dtype, data.a, operands.a));
  ROOFTILE_TRY(Kernel::B::make_map(map_b, call.args.a.dtype, data.b, operands.b));
  const auto parts = 1u << cut.log_parts;
  return launch(parts_kernel<T, kShape, kAlongA, kAlongB>,
                {.grid = dim3(static_cast<unsigned>(cut.tile_rows) * parts,
                              static_cast<unsigned>(cut.tile_columns), static_cast<unsigned>(p.batches)),
                 .block = dim3(Kernel::kThreads),
                 .shared_bytes = shared_bytes<typename Kernel::Shared>(),
                 .stream = call.stream,
                 .cluster = dim3(parts),
                 .dependent = true},
                p, cut, map_a, map_b, rounded_way(call.args, p));
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
