// fence.proxy.async of the simulated SM: nothing to do on a coherent
// host, and for who watches a place in the order of accesses.
#pragma once

#include <source_location>

namespace rooftile::simt::detail {

// Of the current thread; for its accesses to shared memory, to global memory, or both.
void proxy_fence(bool shared, bool global, std::source_location where);

}  // namespace rooftile::simt::detail
