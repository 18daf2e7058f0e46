// cp.async of every size, cache and prefetch; a pipeline; what a missing wait reads.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

enum class CopyVariant { ca4, ca8, ca16, cg16, ca4_l2_64, ca16_l2_128, cg16_l2_256 };
inline constexpr CopyVariant kCopyVariants[] = {
    CopyVariant::ca4,       CopyVariant::ca8,         CopyVariant::ca16,       CopyVariant::cg16,
    CopyVariant::ca4_l2_64, CopyVariant::ca16_l2_128, CopyVariant::cg16_l2_256};
inline constexpr int kCopyBytes[] = {4, 8, 16, 16, 4, 16, 16};
inline constexpr int kCopyThreads = 96;

// Every thread copies one piece of the variant's size to shared memory that held 0xcd; with source_bytes less
// than that, the rest is zero-filled. g_out: what shared memory holds after cp_async_wait_all and a barrier.
Status run_cp_async(StreamRef stream, CopyVariant variant, int source_bytes, const unsigned char* g_in,
                    unsigned char* g_out);

// g_out[b] = the sum of the b-th n values, loaded by a pipeline of 3 stages, 16 bytes per thread and stage.
Status run_pipelined_sum(StreamRef stream, int blocks, int n, const float* g_in, float* g_out);

// Three groups of one word each per thread, over words that held 7: g_out[kept][stage][thread] is what the
// thread finds after a wait that lets `kept` groups be under way, kept 3 (no wait) to 0. What has not arrived
// is read where `read_early` is set alone: on a GPU that is a race.
Status run_partial_waits(StreamRef stream, bool read_early, const std::uint32_t* g_in, std::uint32_t* g_out);

// A copy to shared memory + target_offset from g_in + source_offset.
Status run_misaligned_cp_async(StreamRef stream, int bytes, int target_offset, int source_offset,
                               const unsigned char* g_in);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
