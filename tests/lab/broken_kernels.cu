#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/lab/broken_kernels.h"

namespace rooftile::ROOFTILE_TARGET::lab_tests {
namespace {

constexpr int kBlock = 256;

__device__ float kept(float value, KernelBug bug) {
  return bug == KernelBug::half_accumulation ? __half2float(__float2half(value)) : value;
}

__global__ void __launch_bounds__(kBlock) block_sums_kernel(KernelBug bug, const float* __restrict__ g_in,
                                                            std::int64_t n, float* __restrict__ g_out) {
  __shared__ float s_sums[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kBlock;
  const bool is_last = blockIdx.x + 1 == gridDim.x;
  const bool is_skipped = bug == KernelBug::skipped_tail && first + kBlock > n;
  float value = first + t < n && !is_skipped ? g_in[first + t] : 0.0f;
  if (bug == KernelBug::wrong_lane && t == 17) value += value;
  s_sums[t] = kept(value, bug);
  if (bug != KernelBug::dropped_first_barrier) __syncthreads();  // all values are there
  for (int stride = kBlock / 2; stride > 0; stride /= 2) {
    if (t < stride) s_sums[t] = kept(s_sums[t] + s_sums[t + stride], bug);
    if (bug != KernelBug::dropped_barrier)
      __syncthreads();  // this round's sums before the next round reads them
  }
  if (t != 0 || (bug == KernelBug::output_not_written && is_last)) return;
  g_out[blockIdx.x] = bug == KernelBug::nan_in_last && is_last ? __int_as_float(0x7FC00000) : s_sums[0];
}

}  // namespace

Status run_block_sums(StreamRef stream, KernelBug bug, const float* g_in, std::int64_t n, float* g_out) {
  if (n == 0) return {};
  const auto blocks = static_cast<unsigned>((n + kBlock - 1) / kBlock);
  return launch(block_sums_kernel,
                LaunchConfig{.grid = dim3(blocks), .block = dim3(kBlock), .stream = stream}, bug, g_in, n,
                g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::lab_tests
