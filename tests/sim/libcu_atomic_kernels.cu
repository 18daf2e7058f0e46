#include "rooftile/device/target.h"

#include <cuda/atomic>

#include "rooftile/device/launch.h"
#include "tests/sim/libcu_kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

// The library's namespace, which rooftile::cuda hides.
namespace libcuda = ::cuda;

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void atomic_operations_kernel(AtomicFacts* g_out) {
  int value = 12;
  libcuda::atomic_ref<int, libcuda::thread_scope_thread> ref(value);
  int i = 0;
  const auto note = [&](int returned) {
    g_out->returned[i] = returned;
    g_out->after[i++] = ref.load(libcuda::memory_order_relaxed);
    ref.store(12, libcuda::memory_order_relaxed);
  };
  note(ref.fetch_add(3));
  note(ref.fetch_sub(5, libcuda::memory_order_release));
  note(ref.fetch_and(6));
  note(ref.fetch_or(3));
  note(ref.fetch_xor(5));
  note(ref.fetch_min(7));
  note(ref.fetch_max(40));
  note(ref.exchange(9, libcuda::memory_order_acq_rel));
  note(++ref);
  note(ref--);
  note(ref += 10);
  note(ref -= 20);
  note(ref &= 6);
  note(ref |= 3);
  note(ref ^= 5);
  note(ref = 7);
  note(ref);
  int expected = 12;
  g_out->replaced = ref.compare_exchange_strong(expected, 5) && ref.load() == 5 ? 1 : 0;
  expected = 12;
  g_out->not_replaced =
      ref.compare_exchange_weak(expected, 6, libcuda::memory_order_acq_rel, libcuda::memory_order_relaxed)
          ? 0
          : 1;
  g_out->found = expected;
  libcuda::atomic<float, libcuda::thread_scope_thread> number(1.5f);
  number.fetch_add(0.25f);
  g_out->float_sum = number.load();
  double wide = -3.0;
  libcuda::atomic_ref<double> wide_ref(wide);
  wide_ref.store(2.0);
  g_out->double_max = wide_ref.exchange(1.0);
  libcuda::atomic<unsigned char> byte(250);
  byte.fetch_add(10);
  g_out->byte = byte.load();
  int elements[4];
  libcuda::atomic<int*> pointer(elements);
  pointer.fetch_add(3);
  g_out->pointer_step = pointer.load() - elements;
}

__global__ void atomic_counts_kernel(AtomicCounts* g_counts) {
  __shared__ libcuda::atomic<unsigned, libcuda::thread_scope_block> s_count;
  if (threadIdx.x == 0) s_count.store(0, libcuda::memory_order_relaxed);
  __syncthreads();
  s_count.fetch_add(1, libcuda::memory_order_relaxed);
  libcuda::atomic_ref<int, libcuda::thread_scope_device> by_ref(g_counts->by_ref);
  ++by_ref;
  libcuda::atomic_ref<int, libcuda::thread_scope_device> by_cas(g_counts->by_cas);
  int seen = by_cas.load(libcuda::memory_order_relaxed);
  while (!by_cas.compare_exchange_weak(seen, seen + 1)) {
  }
  libcuda::atomic_ref<int, libcuda::thread_scope_device> largest(g_counts->largest);
  largest.fetch_max(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) {
    libcuda::atomic_ref<unsigned, libcuda::thread_scope_device> all(g_counts->by_object);
    all += s_count.load(libcuda::memory_order_relaxed);
  }
}

__global__ void atomic_handover_kernel(int* g_flag, int* g_value, int* g_out) {
  libcuda::atomic_ref<int, libcuda::thread_scope_device> flag(*g_flag);
  if (blockIdx.x == 0) {
    *g_value = 42;
    libcuda::atomic_thread_fence(libcuda::memory_order_release, libcuda::thread_scope_device);
    flag.store(1, libcuda::memory_order_relaxed);
  } else {
    while (flag.load(libcuda::memory_order_acquire) == 0) {
    }
    *g_out = *g_value;
  }
}

}  // namespace

Status run_atomic_operations(StreamRef stream, AtomicFacts* g_out) {
  return launch(atomic_operations_kernel, {.stream = stream}, g_out);
}
Status run_atomic_counts(StreamRef stream, unsigned blocks, unsigned threads, AtomicCounts* g_counts) {
  return launch(atomic_counts_kernel, {.grid = blocks, .block = threads, .stream = stream}, g_counts);
}
Status run_atomic_handover(StreamRef stream, int* g_flag, int* g_value, int* g_out) {
  return launch(atomic_handover_kernel, {.grid = 2, .stream = stream, .cooperative = true}, g_flag, g_value,
                g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
