// One thread, one element.
//
// Idea       a thread for each element of out, neighbours in a warp side by side.
// Change     the axes of the block: a warp's loads of a are one address, those of b and its stores one line.
// Limits     any strides, negative ones too.
// Bottleneck L1: two loads for each multiply-add.
// Source     the CUDA C++ Programming Guide, matrix multiplication without shared memory.
#include "rooftile/ops/gemm/rungs/naive_product.h"
#include "rooftile/ops/gemm/rungs/rounded_output.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(kNaiveThreads)
    naive_kernel(const __grid_constant__ Problem problem, unsigned tile_rows) {
  const std::int64_t row = blockIdx.x % tile_rows * std::int64_t{kNaiveSide} + threadIdx.x / kNaiveSide;
  const std::int64_t column = blockIdx.x / tile_rows * std::int64_t{kNaiveSide} + threadIdx.x % kNaiveSide;
  give_element<T>(problem, product_of_block(), row, column);
}

// Of 16-bit operands, whose products are added up in f32.
template <class T>
__global__ void __launch_bounds__(kNaiveThreads)
    naive_half_kernel(const __grid_constant__ Problem p, unsigned tile_rows, RoundedWay way) {
  const std::int64_t row = blockIdx.x % tile_rows * std::int64_t{kNaiveSide} + threadIdx.x / kNaiveSide;
  const std::int64_t column = blockIdx.x / tile_rows * std::int64_t{kNaiveSide} + threadIdx.x % kNaiveSide;
  const std::int64_t batch = product_of_block();
  if (batch >= p.batches || row >= p.m || column >= p.n) return;
  const T* g_a = static_cast<const T*>(p.a_data) + batch * p.a.batch + row * p.a.row;
  const T* g_b = static_cast<const T*>(p.b_data) + batch * p.b.batch + column * p.b.column;
  float sum = 0;
  for (std::int64_t i = 0; i < p.k; ++i)
    sum = fmaf(static_cast<float>(g_a[i * p.a.column]), static_cast<float>(g_b[i * p.b.row]), sum);
  RoundedOutput<T>(p, way, batch).give(sum, row, column);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  if (size_of(call.args.a.dtype) == 2) {
    const RoundedWay way = rounded_way(call.args, gemm_plan::problem_of(call.args));
    return dispatch(HalfTypes{}, call.args.a.dtype,
                    [&]<class T>() -> Status { return launch_elements(call, naive_half_kernel<T>, way); });
  }
  return dispatch(DTypes<float, double>{}, call.args.a.dtype,
                  [&]<class T>() -> Status { return launch_elements(call, naive_kernel<T>); });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
