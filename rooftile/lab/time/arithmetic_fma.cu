// Multiply-adds by the CUDA cores. An outer product in registers, as a product of matrices has them: chains
// with one factor would draw less power.
#include <cstdint>

#include "rooftile/device/launch.h"
#include "rooftile/lab/time/arithmetic_data.h"
#include "rooftile/lab/time/arithmetic_kernels.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using Shape = lab::FmaShape;

template <class T>
__global__ void __launch_bounds__(Shape::kBlock, Shape::kBlocksPerSm) fma_kernel(int rounds, T* g_sink) {
  constexpr int kRows = Shape::kRows;
  constexpr int kColumns = kRows * 4 / static_cast<int>(sizeof(T));
  T r_column[kRows];
  T r_row[kColumns];
#pragma unroll
  for (int i = 0; i < kRows; ++i) r_column[i] = normal_number(threadIdx.x * 16 + static_cast<unsigned>(i));
#pragma unroll
  for (int j = 0; j < kColumns; ++j)
    r_row[j] = normal_number(threadIdx.x * 16 + 8 + static_cast<unsigned>(j));
  T r_sums[kRows][kColumns] = {};
#pragma unroll 4
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) r_sums[i][j] = fma(r_column[i], r_row[j], r_sums[i][j]);
    }
  }
  T folded = 0;
#pragma unroll
  for (const auto& r_line : r_sums) {
#pragma unroll
    for (const T sum : r_line) folded += sum;
  }
  // Sums of products of hundredths are never this: the compiler cannot know.
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
             ? launch(fma_kernel<double>, config, rounds, static_cast<double*>(sink))
             : launch(fma_kernel<float>, config, rounds, static_cast<float*>(sink));
}

}  // namespace rooftile::lab
