// memcpy and memset of kernels, in the checked build: found by unqualified lookup before the C library's,
// whose accesses nobody would see. Templates, so that they are the better match where an argument's type
// brings in std's.
//
// A copy whose size is known and is that of one access is one. Others are as wide as the alignment of both
// addresses allows, 16 bytes at most.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/sim/alignment.h"

namespace rooftile::simt {

// CUDA has none in kernels: here it does not compile either.
template <class Destination, class Source>
void* memmove(Destination* destination, const Source* source, std::size_t bytes) = delete;

#if defined(ROOFTILE_SIM_CHECKED)
namespace detail {

__attribute__((always_inline)) inline bool is_multiple(std::uintptr_t bits, std::size_t bytes) {
  return (bits & (bytes - 1)) == 0;
}

// From `at` on, while a whole access is left.
template <std::size_t kBytes>
__attribute__((always_inline)) inline std::size_t copy_up(char* destination, const char* source,
                                                          std::size_t at, std::size_t bytes,
                                                          std::uintptr_t bits) {
  if (is_multiple(bits, kBytes)) {
    for (; bytes - at >= kBytes; at += kBytes) copy_access<kBytes>(destination + at, source + at);
  }
  return at;
}
template <std::size_t kBytes>
__attribute__((always_inline)) inline std::size_t fill_up(char* destination, unsigned char value,
                                                          std::size_t at, std::size_t bytes) {
  alignas(16) unsigned char values[kBytes];
  for (unsigned char& byte : values) byte = value;
  if (is_multiple(reinterpret_cast<std::uintptr_t>(destination), kBytes)) {
    for (; bytes - at >= kBytes; at += kBytes) copy_access<kBytes>(destination + at, values);
  }
  return at;
}

// g++ makes one access of these, aligned or not; and an assignment where both sides are local, so that a
// value whose bytes are renamed is copied member by member afterwards, and its padding is not read.
__attribute__((always_inline)) inline bool is_one_access(std::size_t bytes) {
  return __builtin_constant_p(bytes) && bytes != 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0;
}

__attribute__((always_inline)) inline void copy_forward(void* destination, const void* source,
                                                        std::size_t bytes) {
  auto* const to = static_cast<char*>(destination);
  const auto* const from = static_cast<const char*>(source);
  const auto bits = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  std::size_t at = copy_up<16>(to, from, 0, bytes, bits);
  at = copy_up<8>(to, from, at, bytes, bits);
  at = copy_up<4>(to, from, at, bytes, bits);
  copy_up<1>(to, from, at, bytes, bits);
}

}  // namespace detail

template <class Destination, class Source>
__attribute__((always_inline)) inline void* memcpy(Destination* destination, const Source* source,
                                                   std::size_t bytes) {
  if (detail::is_one_access(bytes)) return __builtin_memcpy(destination, source, bytes);
  detail::copy_forward(destination, source, bytes);
  return destination;
}

template <class Destination>
__attribute__((always_inline)) inline void* memset(Destination* destination, int value, std::size_t bytes) {
  char* const to = static_cast<char*>(static_cast<void*>(destination));
  const auto byte = static_cast<unsigned char>(value);
  std::size_t at = detail::fill_up<16>(to, byte, 0, bytes);
  at = detail::fill_up<8>(to, byte, at, bytes);
  at = detail::fill_up<4>(to, byte, at, bytes);
  detail::fill_up<1>(to, byte, at, bytes);
  return destination;
}
#endif

}  // namespace rooftile::simt
