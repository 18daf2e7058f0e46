// One thread, one element, the wrong way round.
//
// Idea       a thread for each element of out, neighbours in a warp standing below each other.
// Change     the start of the GPU climb: what every first kernel does, with the axes of the block mixed up.
// Limits     f32.
// Bottleneck L1: a warp's loads of a and its stores touch 32 rows.
// Source     the CUDA C++ Programming Guide, matrix multiplication without shared memory; its axes exchanged on purpose.
#include "rooftile/ops/gemm/rungs/naive_product.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

__global__ void __launch_bounds__(kNaiveThreads)
    naive_uncoalesced_kernel(const __grid_constant__ Problem problem, unsigned tile_rows) {
  const std::int64_t row = blockIdx.x % tile_rows * std::int64_t{kNaiveSide} + threadIdx.x % kNaiveSide;
  const std::int64_t column = blockIdx.x / tile_rows * std::int64_t{kNaiveSide} + threadIdx.x / kNaiveSide;
  give_element<float>(problem, product_of_block(), row, column);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) { return launch_elements(call, naive_uncoalesced_kernel); }

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
