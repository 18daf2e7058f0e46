#include "tests/device/blocks/poll_kernels.h"

#include "rooftile/device/last_block.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/poll.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

template <Scope kScope, class Flag>
__global__ void handover_kernel(const std::uint32_t* g_in, std::uint32_t* g_data, Flag* g_flags,
                                std::uint32_t* g_out) {
  Flag* g_full = &g_flags[0];
  Flag* g_empty = &g_flags[1];
  for (Flag round = 0; round < 8; ++round) {
    const auto at_least = [](Flag want) { return [want](Flag value) { return value >= want; }; };
    if (threadIdx.x == 0) {
      wait_until<kScope>(g_empty, at_least(round));
      *g_data = g_in[round] + 1;
      st_release<kScope>(g_full, round + 1);
    } else if (threadIdx.x == 32) {
      wait_until<kScope>(g_full, at_least(round + 1));
      g_out[round] = *g_data;
      st_release<kScope>(g_empty, round + 1);
    }
  }
}

template <Scope kScope>
__global__ void chain_kernel(std::uint32_t* g_values, std::uint32_t* g_flags) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x != 0) return;
  std::uint32_t before = 0;
  if (b > 0) {
    wait_until<kScope>(&g_flags[b - 1], [](std::uint32_t flag) { return flag != 0; });
    before = g_values[b - 1];
  }
  g_values[b] = before + 1;
  st_release<kScope>(&g_flags[b], 1u);
}

__global__ void last_block_kernel(std::uint32_t* g_slots, std::uint32_t* g_counter, std::uint64_t* g_sum) {
  if (threadIdx.x == 0) g_slots[blockIdx.x] = blockIdx.x + 1;
  if (!is_last_block(g_counter, gridDim.x)) return;
  if (threadIdx.x != 0) return;
  std::uint64_t sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += g_slots[b];
  *g_sum = sum;
}

__global__ void last_warp_kernel(std::uint32_t* g_slots, std::uint32_t* g_counter, std::uint64_t* g_sum) {
  if (threadIdx.x == 0) g_slots[blockIdx.x] = blockIdx.x + 1;
  if (!is_last_warp(g_counter, gridDim.x)) return;
  if (threadIdx.x != 31) return;  // a lane that did not count sees the slots too
  std::uint64_t sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += g_slots[b];
  *g_sum = sum;
}

template <Scope kScope>
__global__ void fetch_inc_kernel(std::uint32_t* g_counter, std::uint32_t* g_seen) {
  const std::uint32_t last = gridDim.x * blockDim.x / 2 - 1;
  atomicAdd(&g_seen[fetch_inc_acq_rel<kScope>(g_counter, last)], 1u);
}

// Calls body.operator()<scope>().
template <class Body>
Status with_scope(int scope, Body body) {
  switch (static_cast<Scope>(scope)) {
    case Scope::cta:
      return body.template operator()<Scope::cta>();
    case Scope::cluster:
      return body.template operator()<Scope::cluster>();
    case Scope::gpu:
      return body.template operator()<Scope::gpu>();
    case Scope::sys:
      return body.template operator()<Scope::sys>();
  }
  return invalid_argument("not a scope");
}

}  // namespace

Status run_handover(StreamRef stream, int scope, int flag_bytes, const std::uint32_t* g_in,
                    std::uint32_t* g_data, void* g_flags, std::uint32_t* g_out) {
  return with_scope(scope, [&]<Scope kScope>() -> Status {
    const LaunchConfig config{.block = 64, .stream = stream};
    if (flag_bytes == 4) {
      return launch(handover_kernel<kScope, std::uint32_t>, config, g_in, g_data,
                    static_cast<std::uint32_t*>(g_flags), g_out);
    }
    return launch(handover_kernel<kScope, std::uint64_t>, config, g_in, g_data,
                  static_cast<std::uint64_t*>(g_flags), g_out);
  });
}

Status run_chain(StreamRef stream, int scope, int blocks, std::uint32_t* g_values, std::uint32_t* g_flags) {
  return with_scope(scope, [&]<Scope kScope>() -> Status {
    return launch(chain_kernel<kScope>,
                  {.grid = static_cast<unsigned>(blocks), .block = 32, .stream = stream}, g_values, g_flags);
  });
}

Status run_last_block(StreamRef stream, int blocks, std::uint32_t* g_slots, std::uint32_t* g_counter,
                      std::uint64_t* g_sum) {
  return launch(last_block_kernel, {.grid = static_cast<unsigned>(blocks), .block = 64, .stream = stream},
                g_slots, g_counter, g_sum);
}

Status run_last_warp(StreamRef stream, int blocks, std::uint32_t* g_slots, std::uint32_t* g_counter,
                     std::uint64_t* g_sum) {
  return launch(last_warp_kernel, {.grid = static_cast<unsigned>(blocks), .block = 32, .stream = stream},
                g_slots, g_counter, g_sum);
}

Status run_fetch_inc(StreamRef stream, int scope, int blocks, std::uint32_t* g_counter,
                     std::uint32_t* g_seen) {
  return with_scope(scope, [&]<Scope kScope>() -> Status {
    return launch(fetch_inc_kernel<kScope>,
                  {.grid = static_cast<unsigned>(blocks), .block = 64, .stream = stream}, g_counter, g_seen);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
