// mbarriers of the simulated SM, counted as the hardware does (PTX ISA, mbarrier): a phase completes when no
// arrival and no byte is outstanding. All state is in the 64 bits in shared memory, changed atomically: other
// blocks of a cluster and asynchronous copies change it too.
//
// Caught: use before initialisation, more arrivals than the barrier has, more bytes than were expected, and
// counts out of range. Waiting for what never comes ends by the watchdog, which says what is outstanding.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>

#include "rooftile/sim/cluster.h"
#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {

inline constexpr std::uint32_t kMaxMbarrierCount = (1u << 20) - 1;

void mbarrier_init(std::uint64_t* bits, std::uint32_t arrivals, std::source_location where);
// The current thread's next arrival at the cluster's barrier hands over what it wrote, if it is relaxed, too.
void fence_mbarrier_init();
void mbarrier_inval(std::uint64_t* bits, std::source_location where);

// Expects `bytes` more, then arrives for `count` threads; either may be 0.
void mbarrier_arrive(std::uint64_t* bits, std::uint32_t count, std::uint32_t bytes,
                     std::source_location where);

// The parity of the phase under way.
[[nodiscard]] std::uint32_t mbarrier_parity(const std::uint64_t* bits, std::source_location where);
// Arrives, and is not waited for from the next phase on.
void mbarrier_arrive_drop(std::uint64_t* bits, std::source_location where);

// So many bytes have landed. For asynchronous operations, which
// run outside a thread: returns what is wrong, or nothing.
[[nodiscard]] std::string mbarrier_complete_tx(std::uint64_t* bits, std::uint32_t bytes);

// Whether the phase of this parity has completed; when it has not, lets the others run before it says so.
[[nodiscard]] bool mbarrier_try_wait(const std::uint64_t* bits, std::uint32_t parity,
                                     std::source_location where);
void mbarrier_wait(const std::uint64_t* bits, std::uint32_t parity, std::source_location where);

// "phase 0: 1 of 2 arrivals and 128 bytes are outstanding"
[[nodiscard]] std::string describe_mbarrier(const std::uint64_t* bits);

}  // namespace rooftile::simt::detail
