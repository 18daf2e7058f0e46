// Accesses of the building blocks in device/: checked against the line that asked, done whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include "rooftile/sim/thread.h"
#include "rooftile/sim/vector_types.h"

namespace rooftile::simt::detail {

[[noreturn]] void fail_misaligned(const char* what, const void* address, std::size_t bytes,
                                  std::source_location where);

// Ends the launch where `address` is no multiple of `bytes`, a power of two: "a load of 16 bytes from ...".
inline void check_aligned(const char* what, const void* address, std::size_t bytes,
                          std::source_location where) {
  if ((reinterpret_cast<std::uintptr_t>(address) & (bytes - 1)) != 0) [[unlikely]]
    fail_misaligned(what, address, bytes, where);
}

// One access of 1, 2, 4, 8 or 16 bytes, aligned.
template <std::size_t kBytes>
__attribute__((always_inline)) inline void copy_access(void* destination, const void* source) {
  if constexpr (kBytes == 1) {
    *static_cast<unsigned char*>(destination) = *static_cast<const unsigned char*>(source);
  } else {
    using Access = typename Whole<kBytes>::type;
    *static_cast<Access*>(destination) = *static_cast<const Access*>(source);
  }
}

}  // namespace rooftile::simt::detail
