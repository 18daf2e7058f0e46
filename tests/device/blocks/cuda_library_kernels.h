// libcu++ and the parts of cooperative groups that the simulated SM has not, beside our blocks: on a GPU
// alone.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

inline constexpr int kLibraryThreads = 64;

// The sum of each block's n values (a multiple of 4) through a pipeline of 3 stages:
//   cuda::pipeline<thread_scope_thread>                 groups of cp.async
//   producer_acquire, cuda::memcpy_async                cp_async<16>
//   producer_commit                                     cp_async_commit
//   cuda::pipeline_consumer_wait_prior<1>               cp_async_wait<1>
//   consumer_release                                    the barrier before the stage is filled again
Status run_library_pipeline(StreamRef stream, bool library, int blocks, int n, const float* g_in,
                            float* g_out);

// Two threads hand values over through shared memory, `rounds` times:
//   cuda::atomic_ref<unsigned, thread_scope_block> load(acquire)   ld_acquire<Scope::cta>
//   store(release)                                                 st_release<Scope::cta>
//   a loop around it                                               wait_until<Scope::cta>
Status run_library_handover(StreamRef stream, bool library, int rounds, std::uint32_t* g_out);

// Every thread writes its square to shared memory and reads its neighbour's:
//   cuda::barrier<thread_scope_block>: arrive, wait(token)         __syncthreads, which cannot be split
// (the split barrier of ours is sm90a/mbarrier.h).
Status run_library_barrier(StreamRef stream, bool library, std::uint32_t* g_out);

// Rows of one value per thread, library and ours by turns:
//   cg::inclusive_scan(tile<32>, x)   warp_inclusive_scan(x)
//   cg::exclusive_scan(tile<32>, x)   warp_exclusive_scan(x, 0)
//   of the threads with odd x only:
//   cg::coalesced_threads, its rank   __activemask and a count of the lower lanes: no block of ours; a lane
//                                     that has no value brings the identity
inline constexpr int kScanPairs = 3;
Status run_library_scans(StreamRef stream, const std::uint32_t* g_in, std::uint32_t* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
