#include "tests/device/sm90a_setmaxnreg.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/sm90a/setmaxnreg.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

constexpr int kGroupThreads = 128;
constexpr int kValues = 256;
constexpr int kHeld = 128;

// 168 registers for each thread; then 40 * 128 + 232 * 256.
__global__ void __launch_bounds__(kSetmaxnregThreads, 1)
    hand_over_kernel(const std::uint32_t* g_in, std::uint32_t* g_out) {
  __shared__ std::uint32_t s_values[kValues];
  __shared__ Mbarrier s_full;
  const auto t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    mbarrier_init(&s_full, kGroupThreads);
    fence_mbarrier_init();
  }
  __syncthreads();  // the barrier is there
  if (t < kGroupThreads) {
    setmaxnreg_dec<40>();
    for (int i = t; i < kValues; i += kGroupThreads) s_values[i] = g_in[i];
    mbarrier_arrive(&s_full);
  } else {
    setmaxnreg_inc<232>();
    mbarrier_wait(&s_full, 0);  // the values are there
    std::uint32_t held[kHeld];
#pragma unroll
    for (int i = 0; i < kHeld; ++i) held[i] = s_values[(i + t) % kValues];
    std::uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) sum += static_cast<std::uint32_t>(i) * held[i];
    g_out[t - kGroupThreads] = sum;
  }
}

__global__ void __launch_bounds__(2 * kGroupThreads, 1) misuse_kernel(SetmaxnregMisuse misuse) {
  const auto warp = static_cast<int>(threadIdx.x) / 32;
  if (misuse == SetmaxnregMisuse::one_warp_does_not && warp == 6) return;
  if (misuse == SetmaxnregMisuse::one_warp_otherwise && warp == 1) {
    setmaxnreg_inc<240>();
  } else {
    setmaxnreg_dec<24>();
  }
  if (misuse == SetmaxnregMisuse::decreases_twice) {
    __syncthreads();  // between two calls the warps meet
    setmaxnreg_dec<24>();
  }
}

Status run_hand_over(StreamRef stream, const std::uint32_t* g_in, std::uint32_t* g_out) {
  return launch(hand_over_kernel, {.block = kSetmaxnregThreads, .stream = stream}, g_in, g_out);
}

Status run_misuse(StreamRef stream, SetmaxnregMisuse misuse) {
  const unsigned threads = misuse == SetmaxnregMisuse::no_warpgroup ? 192 : 2 * kGroupThreads;
  return launch(misuse_kernel, {.block = threads, .stream = stream}, misuse);
}

}  // namespace

SetmaxnregKernels setmaxnreg_test_kernels() { return {run_hand_over, run_misuse}; }

}  // namespace rooftile::ROOFTILE_TARGET
