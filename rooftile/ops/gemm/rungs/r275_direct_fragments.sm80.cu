// A few rows: no shared memory in front of the tensor cores.
//
// Idea       up to 16 rows of a by 16 columns of b to a block, whose eight warps part k. What a lane loads of a column of b, 16 bytes, is what it
//            holds of two products: nothing goes through shared memory, nothing waits for a barrier, and loads are some steps ahead in registers.
//            An mma's rows are slices of fewer columns: two of each, so that a load has whole lines of 128 bytes, though half of the products
//            are thrown away; of a single row of a eight, 512 bytes of a column, and then the row's slices are the other operand's columns.
// Change     no tile that is mostly empty, no ring, no engine, no cluster: what is in front of the first load and behind the last is short.
// Limits     f16, bf16; up to 16 rows, or columns; rows of both operands along k, at multiples of 16 bytes.
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
    const auto start =
        [&]<int kOfA, int kSlices, int kGroups, int kParts, int kWarps, int kAhead, int kBlocks>() {
          using Product = DirectProduct<T, kOfA, kSlices, kGroups, kParts, kWarps, kAhead>;
          static_assert(Product::kColumns ==
                        (kOfA == 1 ? gemm_plan::kDirectColumnsOfOne : gemm_plan::kDirectColumns));
          FewWay way = few_way(call.args, out);
          // A vector of results lies within a tile.
          way.rounded.vectors &= kOfA != 1;
          return launch(direct_kernel<T, kOfA, kSlices, kGroups, kParts, kWarps, kAhead, kBlocks>,
                        {.grid = dim3(static_cast<unsigned>(cut.tiles())),
                         .block = dim3(Product::kThreads),
                         .stream = call.stream},
                        a, b, static_cast<int>(few.k), static_cast<unsigned>(cut.tile_columns), out, way);
        };
    // Of some twenty ways each (README).
    if (few.m == 1) return start.template operator()<1, 8, 1, 2, 4, 2, 6>();
    return few.m <= 8 ? start.template operator()<8, 2, 2, 1, 8, 2, 2>()
                      : start.template operator()<16, 2, 2, 2, 8, 1, 2>();
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
