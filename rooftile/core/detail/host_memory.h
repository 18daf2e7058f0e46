// Host memory for tensors, and for devices that live in it (cpu, sim).
#pragma once

#include <cstddef>
#include <string>

#include "rooftile/core/status.h"

namespace rooftile::detail {

// Aligned to kAllocationAlignment; null for zero bytes. More than the machine has (memory and swap) is
// refused here: an overcommitting kernel would grant it and end the process at the first touch.
[[nodiscard]] Result<void*> allocate_host(std::size_t bytes);
void free_host(void* data);

[[nodiscard]] std::size_t host_memory_bytes();  // physical memory; 0 where unknown

// "3.5 GiB": for messages.
[[nodiscard]] std::string format_bytes(std::size_t bytes);

}  // namespace rooftile::detail
