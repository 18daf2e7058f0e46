// A few rows: the next product begins while this one ends.
//
// Idea       a dependent launch: blocks start as soon as multiprocessors have room, while the kernel ahead still runs. What it writes they may
//            not read yet, but to L2 their columns of b may come: a prefetch reads nothing. So memory has no pause between two kernels. Of a
//            single row, where a block is two columns and its first loads are all that it loads; of more rows only the start is early.
// Change     direct_fragments, whose every launch waits for the last block of the one ahead, and then for its own first bytes.
// Limits     sm_90a; f16, bf16; up to 16 rows, or columns; rows of both operands along k, at multiples of 16 bytes.
// Bottleneck DRAM.
// Source     PTX ISA, griddepcontrol, cp.async.bulk.prefetch.
#include "rooftile/device/sm80/l2_policy.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/dependent_launch.h"
#include "rooftile/ops/gemm/rungs/direct_product.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

// The first `blocks` bring as many bytes of each of their columns to L2 before they wait.
struct Early {
  unsigned blocks = 0;
  std::uint32_t bytes = 0;  // a multiple of 16
};

template <class T, int kOfA, int kSlices, int kGroups, int kParts, int kWarps, int kAhead, int kBlocks>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    dependent_kernel(const __grid_constant__ DirectOperand a, const __grid_constant__ DirectOperand b, int k,
                     unsigned tile_columns, const __grid_constant__ Problem out, FewWay way, Early early) {
  using Product = DirectProduct<T, kOfA, kSlices, kGroups, kParts, kWarps, kAhead>;
  constexpr bool kIsEarly = kOfA == 1;
  __shared__ __align__(16) float s_sums[kWarps][Product::kWarpFloats];
  const unsigned batch = blockIdx.x / tile_columns;
  const std::int64_t first = std::int64_t{blockIdx.x % tile_columns} * Product::kColumns;
  Product product(a, b, k, batch, first);
  if (kIsEarly) {
    if (blockIdx.x < early.blocks && threadIdx.x < Product::kColumns) {
      const std::int64_t column = smaller(first + threadIdx.x, b.rows - 1);
      bulk_prefetch_by_policy(b.g + batch * b.batch + column * b.row, early.bytes, l2_evict_first());
    }
    launch_dependents();
  }
  wait_for_prerequisites();
  product.add_all();
  if (!kIsEarly) launch_dependents();
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
          // What L2 can hold from one launch to the next comes early as a whole, else a quarter of L2: of what the first blocks on the
          // multiprocessors have.
          const bool fits = gemm_plan::fits_in_l2(few, call.device);
          const std::int64_t blocks =
              fits ? cut.tiles() : std::int64_t{kBlocks} * call.device.multiprocessors;
          const std::int64_t most = fits ? 16384 : 8192;
          const Early early{
              .blocks = static_cast<unsigned>(few.k < kVecBytes / 2 ? 0 : blocks),
              .bytes = static_cast<std::uint32_t>(smaller(2 * few.k / kVecBytes * kVecBytes, most))};
          return launch(dependent_kernel<T, kOfA, kSlices, kGroups, kParts, kWarps, kAhead, kBlocks>,
                        {.grid = dim3(static_cast<unsigned>(cut.tiles())),
                         .block = dim3(32 * kWarps),
                         .stream = call.stream,
                         .dependent = true},
                        operands.a, operands.b, static_cast<int>(few.k),
                        static_cast<unsigned>(cut.tile_columns), out, way, early);
        });
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
