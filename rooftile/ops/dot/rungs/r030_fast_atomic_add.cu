// One half by the instruction for two.
//
// Idea       a single 16-bit sum is added by the native atomic of 32 bits that holds it, -0 to its neighbour, whether
//            the sum lies in the lower half of a word or in the upper one.
// Change     the atomic alone. To show every case, three sums side by side take turns by block: one in a lower half, one
//            at an odd address, and one without a neighbour, which only the loop of compare-and-swap can serve.
// Limits     as half_atomics.
// Bottleneck one atomic per thread on a few addresses; 16 bits of accumulation.
// Source     PyTorch, fastAtomicAdd.
#include "rooftile/device/atomic16.h"
#include "rooftile/device/grid_stride.h"
#include "rooftile/ops/dot/rungs/dot_device.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {
namespace {

constexpr int kSums = 3;

// Zeros before and afterwards.
template <class T>
struct Sums {
  std::uint32_t ticket;
  T sums[kSums];
};

template <class T>
__global__ void fast_atomic_add_kernel(const T* __restrict__ g_a, const T* __restrict__ g_b, std::int64_t n,
                                       Sums<T>* g_sums, RealOutput out) {
  T sum(0.0f);
  for (const std::int64_t i : grid_stride(n)) sum = __hfma(g_a[i], g_b[i], sum);
  fast_atomic_add(g_sums->sums, blockIdx.x % kSums, kSums, sum);
  __syncthreads();  // the whole block has added before it takes its ticket
  if (threadIdx.x != 0 || !is_last_of_grid(&g_sums->ticket)) return;
  T total(0.0f);
#pragma unroll
  for (T& part : g_sums->sums) {
    total = __hadd(total, part);
    part = T(0.0f);
  }
  out.store(0, static_cast<float>(total));
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DotArgs>& call) {
  return dispatch_lesson(call.args, [&]<class T>() {
    static_assert(sizeof(Sums<T>) <= dot_plan::kLessonSums);
    return launch_lesson(call, fast_atomic_add_kernel<T>, static_cast<const T*>(call.args.a.data),
                         static_cast<const T*>(call.args.b.data), call.args.a.numel(),
                         static_cast<Sums<T>*>(call.workspace.zeroed), output_of(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
