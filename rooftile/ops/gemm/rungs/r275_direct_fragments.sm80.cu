// A few rows: no shared memory in front of the tensor cores.
//
// Idea       up to 8 rows of a by 16 columns of b to a block, whose eight warps part k. What a lane loads of a column of b, 16 bytes, is what it
//            holds of two products: nothing goes through shared memory, nothing waits for a barrier, and loads are some steps ahead in registers.
//            Of a single row an mma's rows are slices of a column, so that a warp's load is 512 bytes of it.
// Change     no tile that is mostly empty, no ring, no engine, no cluster: what is in front of the first load and behind the last is short.
// Limits     f16, bf16; up to 8 rows, or columns; rows of both operands along k, at multiples of 16 bytes.
// Bottleneck DRAM.
// Source     PTX ISA, mma: the fragments of m16n8k16.
#include "rooftile/ops/gemm/rungs/direct_product.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem few = gemm_plan::skinny_problem_of(call.args);
  if (few.is_empty()) return {};
  const auto& cut = call.config<gemm_plan::DirectCut>();
  if (cut.tiles() > kMaxGrid) return unsupported("more than 2^31 - 1 blocks");
  const DirectOperand a = {.g = static_cast<const std::uint16_t*>(few.a_data),
                           .row = few.a.row,
                           .batch = few.a.batch,
                           .rows = few.m};
  const DirectOperand b = {.g = static_cast<const std::uint16_t*>(few.b_data),
                           .row = few.b.column,
                           .batch = few.b.batch,
                           .rows = few.n};
  const Problem out = gemm_plan::problem_of(call.args);
  return dispatch(HalfTypes{}, call.args.a.dtype, [&]<class T>() -> Status {
    constexpr int kWarps = 8;
    const auto start = [&](auto kernel) {
      return launch(kernel,
                    {.grid = dim3(static_cast<unsigned>(cut.tiles())),
                     .block = dim3(32 * kWarps),
                     .stream = call.stream},
                    a, b, static_cast<int>(few.k), static_cast<unsigned>(cut.tile_columns), out,
                    few_way(call.args, out));
    };
    static_assert(DirectProduct<T, 8, 4, 1, kWarps, 2>::kColumns == gemm_plan::kDirectColumnsOfOne);
    static_assert(DirectProduct<T, 1, 1, 4, kWarps, 2>::kColumns == gemm_plan::kDirectColumns);
    return few.m == 1 ? start(direct_kernel<T, 8, 4, 1, kWarps, 2, 2>)
                      : start(direct_kernel<T, 1, 1, 4, kWarps, 2, 2>);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
