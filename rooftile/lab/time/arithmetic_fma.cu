// Multiply-adds by the CUDA cores. x = b - x from one number to another and back: every bit that can change does. Outer
// products of 8 x 8 in registers, which products of matrices are made of, reach 0.92 of it: they read three registers each.
#include <cstdint>

#include "rooftile/device/launch.h"
#include "rooftile/lab/time/arithmetic_data.h"
#include "rooftile/lab/time/arithmetic_kernels.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using lab::normal_number;
using Shape = lab::FmaShape;

template <class T>
__global__ void __launch_bounds__(Shape::kBlock, Shape::kBlocksPerSm)
    fma_kernel(int rounds, T factor, T* g_sink) {
  T r_values[Shape::kChains];
  T r_summands[Shape::kChains];
#pragma unroll
  for (unsigned i = 0; i < Shape::kChains; ++i) {
    r_values[i] = normal_number(threadIdx.x * 16 + i);
    r_summands[i] = normal_number(threadIdx.x * 16 + 8 + i);
  }
#pragma unroll 32  // the loop's own instructions take issue slots: a tenth of them where it is unrolled by 4
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < Shape::kChains; ++i) r_values[i] = fma(r_values[i], factor, r_summands[i]);
  }
  T folded = 0;
#pragma unroll
  for (const T value : r_values) folded += value;
  // Sums of hundredths are never this: the compiler cannot know.
  if (folded == static_cast<T>(1e-30)) *g_sink = folded;
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET

namespace rooftile::lab {

Status fma_cuda(StreamRef stream, Arithmetic arithmetic, int multiprocessors, int rounds, void* sink) {
  using namespace rooftile::ROOFTILE_TARGET;
  const LaunchConfig config{.grid = dim3(static_cast<unsigned>(multiprocessors * FmaShape::kBlocksPerSm)),
                            .block = dim3(FmaShape::kBlock),
                            .stream = stream};
  return arithmetic == Arithmetic::fma_f64
             ? launch(fma_kernel<double>, config, rounds, -1.0, static_cast<double*>(sink))
             : launch(fma_kernel<float>, config, rounds, -1.0f, static_cast<float*>(sink));
}

}  // namespace rooftile::lab
