// One thread, one element.
//
// Idea       a thread for each element of out, neighbours in a warp side by side.
// Change     the axes of the block: a warp's loads of a are one address, those of b and its stores one line.
// Limits     any strides, negative ones too.
// Bottleneck L1: two loads for each multiply-add.
// Source     the CUDA C++ Programming Guide, matrix multiplication without shared memory.
#include "rooftile/ops/gemm/rungs/naive_product.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(kNaiveThreads)
    naive_kernel(const __grid_constant__ Problem problem, unsigned tile_rows) {
  const std::int64_t row = blockIdx.x % tile_rows * std::int64_t{kNaiveSide} + threadIdx.x / kNaiveSide;
  const std::int64_t column = blockIdx.x / tile_rows * std::int64_t{kNaiveSide} + threadIdx.x % kNaiveSide;
  give_element<T>(problem, blockIdx.y, row, column);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return dispatch(DTypes<float, double>{}, call.args.a.dtype,
                  [&]<class T>() -> Status { return launch_elements(call, naive_kernel<T>); });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
