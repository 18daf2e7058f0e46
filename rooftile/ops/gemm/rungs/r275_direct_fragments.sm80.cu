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
namespace {

template <class T, int kOfA, int kSlices, int kGroups, int kParts, int kWarps, int kAhead, int kBlocks>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    direct_kernel(const __grid_constant__ DirectOperand a, const __grid_constant__ DirectOperand b, int k,
                  unsigned tile_columns, const __grid_constant__ Problem out, FewWay way) {
  using Product = DirectProduct<T, kOfA, kSlices, kGroups, kParts, kWarps, kAhead>;
  __shared__ __align__(16) float s_sums[kWarps][Product::kWarpFloats];
  const unsigned batch = blockIdx.x / tile_columns;
  const std::int64_t first = std::int64_t{blockIdx.x % tile_columns} * Product::kColumns;
  Product product(a, b, k, batch, first);
  product.add_all();
  product.gather(FewTile(s_sums[warp_index()], Product::kRows, Product::kColumns, way.is_turned));
  give_sums_of_warps<Product, T, kWarps>(s_sums, out, way, batch, first);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem few = gemm_plan::skinny_problem_of(call.args);
  if (few.is_empty()) return {};
  const auto& cut = call.config<gemm_plan::DirectCut>();
  if (cut.tiles() > kMaxGrid) return unsupported("more than 2^31 - 1 blocks");
  const DirectOperands operands(few);
  const Problem out = gemm_plan::problem_of(call.args);
  return dispatch(HalfTypes{}, call.args.a.dtype, [&]<class T>() -> Status {
    return with_direct_ways(
        few.m, [&]<int kOfA, int kSlices, int kGroups, int kParts, int kWarps, int kAhead, int kBlocks>() {
          FewWay way = few_way(call.args, out);
          // A vector of results lies within a tile.
          way.rounded.vectors &= kOfA != 1;
          return launch(direct_kernel<T, kOfA, kSlices, kGroups, kParts, kWarps, kAhead, kBlocks>,
                        {.grid = dim3(static_cast<unsigned>(cut.tiles())),
                         .block = dim3(32 * kWarps),
                         .stream = call.stream},
                        operands.a, operands.b, static_cast<int>(few.k),
                        static_cast<unsigned>(cut.tile_columns), out, way);
        });
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
