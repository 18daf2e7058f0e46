// Memory for shadows: zero pages at first, and kept for the next one of its size. Whoever gets it again finds
// old marks in it, which must be old by themselves.
#pragma once

#include <cstddef>
#include <memory>

namespace rooftile::simt::checked {

struct ReturnShadowMemory {
  std::size_t bytes;
  void operator()(std::byte* memory) const;
};
using ShadowMemory = std::unique_ptr<std::byte, ReturnShadowMemory>;

// Throws std::bad_alloc. Thread-safe.
[[nodiscard]] ShadowMemory take_shadow_memory(std::size_t bytes);

}  // namespace rooftile::simt::checked
