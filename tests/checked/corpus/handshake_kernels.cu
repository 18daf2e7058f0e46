// Warps that produce and consume, with barriers in shared memory between them.
#include "rooftile/device/target.h"

#include <cuda/barrier>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

namespace libcuda = ::cuda;  // rooftile::cuda hides it
using BlockBarrier = libcuda::barrier<libcuda::thread_scope_block>;

#pragma nv_diag_suppress static_var_with_dynamic_init

constexpr unsigned kWarp = 32;
constexpr unsigned kGrid = 8;
constexpr unsigned kPerBlock = kElements / kGrid;
constexpr unsigned kRounds = kPerBlock / kWarp;

enum class Handshake { right, slot_awaited_late, value_awaited_late };

// The first warp fills two slots in turn, the second empties them.
template <Handshake kForm>
__global__ void handshake_kernel(const float* g_in, float* g_out) {
  __shared__ BlockBarrier s_full[2];
  __shared__ BlockBarrier s_empty[2];
  __shared__ float s_slots[2][kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned first = blockIdx.x * kPerBlock;
  if (threadIdx.x < 2) {
    init(&s_full[threadIdx.x], 2 * kWarp);
    init(&s_empty[threadIdx.x], 2 * kWarp);
  }
  __syncthreads();
  if (threadIdx.x < kWarp) {
    for (unsigned round = 0; round < kRounds; ++round) {
      const unsigned slot = round % 2;
      auto is_empty = s_empty[slot].arrive();
      if constexpr (kForm != Handshake::slot_awaited_late) s_empty[slot].wait(libcuda::std::move(is_empty));
      s_slots[slot][lane] = g_in[first + round * kWarp + lane];  // BUG slot_awaited_late
      if constexpr (kForm == Handshake::slot_awaited_late) s_empty[slot].wait(libcuda::std::move(is_empty));
      static_cast<void>(s_full[slot].arrive());
    }
  } else {
    static_cast<void>(s_empty[0].arrive());
    static_cast<void>(s_empty[1].arrive());
    for (unsigned round = 0; round < kRounds; ++round) {
      const unsigned slot = round % 2;
      auto is_full = s_full[slot].arrive();
      if constexpr (kForm != Handshake::value_awaited_late) s_full[slot].wait(libcuda::std::move(is_full));
      g_out[first + round * kWarp + lane] = s_slots[slot][kWarp - 1 - lane];  // BUG value_awaited_late
      if constexpr (kForm == Handshake::value_awaited_late) s_full[slot].wait(libcuda::std::move(is_full));
      if (round + 2 < kRounds) static_cast<void>(s_empty[slot].arrive());
    }
  }
}

void reversed_warps(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) out[i] = in[i - i % kWarp + kWarp - 1 - i % kWarp];
}

// One thread prepares a barrier; here sixteen do.
template <unsigned kInitialisers>
__global__ void initialised_kernel(const float* g_in, float* g_out) {
  __shared__ BlockBarrier s_barrier;
  __shared__ float s_values[4 * kWarp];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  if (t < kInitialisers) init(&s_barrier, blockDim.x);  // BUG initialised_by_sixteen
  __syncthreads();
  s_values[t] = g_in[i];
  s_barrier.arrive_and_wait();
  g_out[i] = s_values[t ^ (kWarp - 1)];
}

// Nothing stands between the initialisation and the others' use.
__global__ void used_at_once_kernel(const float* g_in, float* g_out) {
  __shared__ BlockBarrier s_barrier;
  __shared__ float s_values[kWarp];
  const unsigned t = threadIdx.x;
  if (t == 0) init(&s_barrier, blockDim.x);  // BUG initialised_without_barrier
  s_values[t] = g_in[t];
  s_barrier.arrive_and_wait();
  g_out[t] = s_values[kWarp - 1 - t];
}

template <Handshake kForm>
constexpr auto kRunHandshake = run<kGrid, 2 * kWarp, handshake_kernel<kForm>>;
template <unsigned kInitialisers>
constexpr auto kRunInitialised = run<kElements / 128, 128, initialised_kernel<kInitialisers>>;

const Kernel kKernels[] = {
    {"handshake", kRunHandshake<Handshake::right>, reversed_warps},
    {"slot_awaited_late", kRunHandshake<Handshake::slot_awaited_late>, nullptr, "race"},
    {"value_awaited_late", kRunHandshake<Handshake::value_awaited_late>, nullptr, "race"},
    {"initialised_by_one", kRunInitialised<1>, reversed_warps},
    {"initialised_by_sixteen", kRunInitialised<16>, nullptr, "race"},
    {"initialised_without_barrier", run<1, kWarp, used_at_once_kernel>, nullptr, "race"},
};

}  // namespace

std::span<const Kernel> handshake_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
