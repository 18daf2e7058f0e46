// Tiles that TMA brings into shared memory as wgmma takes them from there, and the sums of a warpgroup.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/device/fast_divide.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/sm90a/tma.h"
#include "rooftile/device/sm90a/wgmma.h"
#include "rooftile/ops/gemm/gemm_tensor.h"
#include "rooftile/ops/gemm/rungs/operand_copies.h"
#include "rooftile/ops/gemm/rungs/rounded_output.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

inline constexpr int kWarpgroup = 128;                     // threads
inline constexpr int kWarpgroupRows = 64;                  // of a wgmma
inline constexpr int kStepDepth = gemm_plan::kWgmmaDepth;  // a line of 128 bytes, the span of the swizzle
inline constexpr int kBoxBytes = 64 * 64 * 2;  // across k: a box of 64 rows of a (columns of b) by 64 lines

using WgmmaPlaces = gemm_plan::WgmmaPlaces<FastDivisor<std::uint32_t>>;

// A stage of one operand: kOuter rows of a, or columns of b. kAlong: k runs along memory.
template <int kOuter, bool kAlong>
struct StageOperand {
  static constexpr int kBytes = kOuter * kStepDepth * 2;
  static constexpr std::uint32_t kSliceBytes = kAlong ? 32 : 16 * 128;  // to the next 16 along k
  static_assert(kOuter % (kAlong ? 8 : 64) == 0);

  // By one thread: from row (column) `outer` and line `line` on; what is outside comes as zeros.
  __device__ __forceinline__ static void load(std::byte* s_stage, const TensorMap& map, int outer, int line,
                                              int batch, Mbarrier* s_full) {
    if constexpr (kAlong) {
      tma_load(s_stage, map, {line, outer, batch}, s_full);
    } else {
#pragma unroll
      for (int box = 0; box < kOuter / 64; ++box)
        tma_load(s_stage + box * kBoxBytes, map, {outer + 64 * box, line, batch}, s_full);
    }
  }
  // To the same place in every block of the cluster whose bit is set in `blocks`.
  __device__ __forceinline__ static void load_for_all(std::byte* s_stage, const TensorMap& map, int outer,
                                                      int line, int batch, Mbarrier* s_full,
                                                      std::uint16_t blocks) {
    if constexpr (kAlong) {
      tma_load_multicast(s_stage, map, {line, outer, batch}, s_full, blocks);
    } else {
#pragma unroll
      for (int box = 0; box < kOuter / 64; ++box)
        tma_load_multicast(s_stage + box * kBoxBytes, map, {outer + 64 * box, line, batch}, s_full, blocks);
    }
  }
  // From row (column) `outer` of the stage on, a multiple of 64.
  __device__ __forceinline__ static auto descriptor(const std::byte* s_stage, int outer) {
    if constexpr (kAlong)
      return k_major_descriptor(s_stage + outer * 128, TileSwizzle::bytes128);
    else
      return mn_major_descriptor(s_stage + outer / 64 * kBoxBytes, TileSwizzle::bytes128, kBoxBytes);
  }
};

// The map of an operand, of boxes of kOuter rows of a (columns of b) by 64 along k.
template <int kOuter, bool kAlong>
Status make_operand_map(TensorMap& map, DType dtype, const void* data, const gemm_plan::WgmmaOperand& x) {
  const std::int64_t leading = kAlong ? x.outer : x.line;
  const std::int64_t count = kAlong ? x.outers : x.lines;
  TensorMapSpec spec{.data = const_cast<void*>(data), .dtype = dtype, .rank = 3};
  spec.extents = {kAlong ? x.lines : x.outers, count, x.batches};
  spec.strides = {1, leading, x.batches == 1 ? leading * count : x.batch};
  spec.box = {64, kAlong ? kOuter : kStepDepth, 1};
  spec.swizzle = TileSwizzle::bytes128;
  return make_tensor_map(map, spec);
}
template <int kRows, int kColumns, bool kAlongA, bool kAlongB>
struct OperandMaps {
  TensorMap a;
  TensorMap b;
  [[nodiscard]] Status make(DType dtype, const gemm_plan::WgmmaOperands& operands, const OperandData& data) {
    ROOFTILE_TRY((make_operand_map<kRows, kAlongA>(a, dtype, data.a, operands.a)));
    return make_operand_map<kColumns, kAlongB>(b, dtype, data.b, operands.b);
  }
};

// The sums of a warpgroup: 64 rows, kColumns columns.
template <class T, int kColumns>
struct WarpgroupSums {
  float at[kColumns / 2];

  // The product of a stage, asynchronously, as a group; `accumulate` or the sums begin with it.
  template <class A, class B>
  __device__ __forceinline__ void add(const std::byte* s_a, const std::byte* s_b, int first_row,
                                      bool accumulate) {
    const auto a = A::descriptor(s_a, first_row);
    const auto b = B::descriptor(s_b, 0);
    wgmma_fence();
#pragma unroll
    for (int slice = 0; slice < kStepDepth / 16; ++slice)
      wgmma<T>(at, a.advanced(slice * A::kSliceBytes), b.advanced(slice * B::kSliceBytes),
               accumulate || slice > 0);
    wgmma_commit();
  }
};

// launch_it.operator()<T, kAlongA, kAlongB>(problem, operands, data) of a call's types and the layouts of this problem, its operands copied
// first where they have to be.
template <class Launch>
Status with_layouts_of(const Call<GemmArgs>& call, const Problem& p, Launch launch_it) {
  const gemm_plan::WgmmaOperands operands = gemm_plan::wgmma_operands(p);
  OperandData data{};
  ROOFTILE_TRY(copy_operands(call, p, operands, data));
  return dispatch(HalfTypes{}, call.args.a.dtype, [&]<class T>() -> Status {
    if (operands.a.along)
      return operands.b.along ? launch_it.template operator()<T, true, true>(p, operands, data)
                              : launch_it.template operator()<T, true, false>(p, operands, data);
    return operands.b.along ? launch_it.template operator()<T, false, true>(p, operands, data)
                            : launch_it.template operator()<T, false, false>(p, operands, data);
  });
}
// The same of a call of tiles.
template <class Cut = gemm_plan::WgmmaCut, class Launch>
Status with_wgmma_operands(const Call<GemmArgs>& call, Launch launch_it) {
  const Problem p = gemm_plan::problem_of(call.args);
  if (p.is_empty()) return {};
  if (call.config<Cut>().tiles() > kMaxGrid) return unsupported("more than 2^31 - 1 tiles");
  return with_layouts_of(call, p, launch_it);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
