// Global accesses of every width and policy.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

// Copies `count` accesses of `bytes` bytes with policy number `load` (LoadPolicy) and `store` (StorePolicy).
Status run_vec_copy(StreamRef stream, int bytes, int load, int store, const void* g_in, void* g_out,
                    std::int64_t count);
// The same by elements: load_vec, load, store and store_vec of floats, in place: out[i] = 2 * in[i].
Status run_vec_elements(StreamRef stream, const float* g_in, float* g_out, std::int64_t vectors);
// elements_to_alignment of g_in + 0 ... 15.
Status run_alignment(StreamRef stream, const std::uint16_t* g_in, std::int64_t n, std::int64_t* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
