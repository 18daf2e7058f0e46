// Acquire, release and waiting, in every scope.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

// Numbers of Scope: 0 cta, 1 cluster, 2 gpu, 3 sys.

// A block of two warps: thread 0 writes in[i] + 1 to data and raises the flag to i + 1, the other warp waits
// for it and copies data to out[i]; 8 times, and the flag goes back the same way. `data` and `flags` (2
// values) are scratch. `flag_bytes` 4 or 8.
Status run_handover(StreamRef stream, int scope, int flag_bytes, const std::uint32_t* g_in,
                    std::uint32_t* g_data, void* g_flags, std::uint32_t* g_out);

// Block b waits for block b - 1 and writes values[b] = values[b - 1] + 1 before it lets b + 1 go. `flags`
// start at zero.
Status run_chain(StreamRef stream, int scope, int blocks, std::uint32_t* g_values, std::uint32_t* g_flags);

// Every block adds `blockIdx.x + 1` to its own slot; the last to finish sums the slots into *g_sum.
Status run_last_block(StreamRef stream, int blocks, std::uint32_t* g_slots, std::uint32_t* g_counter,
                      std::uint64_t* g_sum);

// The same by the last warp of all, for blocks of one warp.
Status run_last_warp(StreamRef stream, int blocks, std::uint32_t* g_slots, std::uint32_t* g_counter,
                     std::uint64_t* g_sum);

// fetch_inc_acq_rel by each of blocks * 64 threads, wrapping once half of them have counted: g_seen[old] is
// increased for each old value.
Status run_fetch_inc(StreamRef stream, int scope, int blocks, std::uint32_t* g_counter,
                     std::uint32_t* g_seen);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
