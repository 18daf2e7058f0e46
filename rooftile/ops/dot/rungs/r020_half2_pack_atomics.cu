// Two at a time.
//
// Idea       pairs of elements: one load, one multiply-add, and one native atomic of 32 bits for two sums.
// Change     two sums side by side, of the even and of the odd elements; the last block adds them.
// Limits     as half_atomics, and pointers at 4 bytes.
// Bottleneck one atomic per thread on one address, half as many; 16 bits of accumulation.
#include "rooftile/device/atomic16.h"
#include "rooftile/device/grid_stride.h"
#include "rooftile/ops/dot/rungs/dot_device.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {
namespace {

// Zeros before and afterwards.
template <class T>
struct Sums {
  std::uint32_t ticket;
  PairOf<T> sums;
};

// By one load.
template <class T>
__device__ __forceinline__ PairOf<T> load_pair(const T* g_pair) {
  const Vec<T, 2> pair = load_vec<LoadPolicy::cached, 4>(g_pair);
  return pair_of(pair[0], pair[1]);
}

template <class T>
__global__ void half2_pack_atomics_kernel(const T* __restrict__ g_a, const T* __restrict__ g_b,
                                          std::int64_t n, Sums<T>* g_sums, RealOutput out) {
  const T zero(0.0f);
  PairOf<T> sums = pair_of(zero, zero);
  for (const std::int64_t i : grid_stride(n / 2))
    sums = __hfma2(load_pair(g_a + 2 * i), load_pair(g_b + 2 * i), sums);
  if (n % 2 != 0 && grid_thread() == 0) {
    sums = __hfma2(pair_of(g_a[n - 1], zero), pair_of(g_b[n - 1], zero), sums);
  }
  atomicAdd(&g_sums->sums, sums);
  __syncthreads();  // the whole block has added before it takes its ticket
  if (threadIdx.x != 0 || !is_last_of_grid(&g_sums->ticket)) return;
  out.store(0, static_cast<float>(__hadd(g_sums->sums.x, g_sums->sums.y)));
  g_sums->sums = pair_of(zero, zero);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DotArgs>& call) {
  return dispatch_lesson(call.args, [&]<class T>() {
    static_assert(sizeof(Sums<T>) <= dot_plan::kLessonSums);
    return launch_lesson(call, half2_pack_atomics_kernel<T>, static_cast<const T*>(call.args.a.data),
                         static_cast<const T*>(call.args.b.data), call.args.a.numel(),
                         static_cast<Sums<T>*>(call.workspace.zeroed), output_of(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
