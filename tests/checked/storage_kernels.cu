// The comments BUG name the line that a report must give.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/checked/storage_kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr unsigned kBlock = 64;

__global__ void memory_kernel(MemoryUse use, const int* g_in, int* g_out) {
  __shared__ int s_bytes[kBlock];
  const unsigned t = threadIdx.x;
  switch (use) {
    case MemoryUse::fill_then_read:
      if (t == 0) memset(s_bytes, 0, sizeof(s_bytes));
      __syncthreads();
      g_out[t] = s_bytes[t];
      break;
    case MemoryUse::copy_then_read:
      memcpy(&s_bytes[t], &g_in[t], sizeof(int));
      __syncthreads();
      if (t % 4 == 0) memcpy(&g_out[t], &s_bytes[t], 4 * sizeof(int));
      break;
    case MemoryUse::copy_races:
      s_bytes[t] = g_in[t];
      if (t % 32 == 0) memcpy(&g_out[t], s_bytes, 128);  // BUG copy_races
      break;
    case MemoryUse::fill_races:
      if (t < 2) memset(s_bytes, t, sizeof(s_bytes));  // BUG fill_races
      break;
    case MemoryUse::copy_uninitialised:
      if (t != 8) s_bytes[t] = g_in[t];
      __syncthreads();
      if (t == 0) memcpy(g_out, s_bytes, sizeof(s_bytes));  // BUG copy_uninitialised
      break;
    case MemoryUse::copy_behind:
      if (t == 0) memcpy(g_out, g_in + 1, kBlock * sizeof(int));  // BUG copy_behind
      break;
  }
}

}  // namespace

Status run_memory_use(StreamRef stream, MemoryUse use, const int* g_in, int* g_out) {
  return launch(memory_kernel, {.block = dim3(kBlock), .stream = stream}, use, g_in, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
