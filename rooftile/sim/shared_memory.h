// Where a block's shared memory lies: the launch's dynamic part, and __shared__ variables, which are
// thread-local ones of the OS thread that runs the block.
#pragma once

#include <cstddef>
#include <source_location>
#include <vector>

namespace rooftile::simt::detail {

struct MemoryRange {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  [[nodiscard]] bool contains(const void* address, std::size_t count) const;
};

// The calling OS thread's thread-local variables, one range per
// program or library that has some; the same order in every thread.
[[nodiscard]] const std::vector<MemoryRange>& static_shared_memory();

// Whether [address, address + bytes) is shared memory of the calling thread's block.
[[nodiscard]] bool in_shared_memory(const void* address, std::size_t bytes);

// Ends the launch unless it is, and aligned so.
void check_shared(const char* operation, const void* address, std::size_t bytes, std::size_t alignment,
                  std::source_location where);

}  // namespace rooftile::simt::detail
