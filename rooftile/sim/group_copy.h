// One thread's share of a copy that threads do together: by cp.async where that can do it, and at once where
// it cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include "rooftile/sim/alignment.h"
#include "rooftile/sim/async_copy.h"

namespace rooftile::simt::detail {

inline constexpr std::size_t kWidestCopy = 16;

struct GroupCopy {
  void* target;
  const void* source;
  std::size_t bytes;
};

template <class Bytes>
concept AlignedShape = requires {
  Bytes::align;
};

// What a shape promises holds, or the launch ends.
template <class Bytes>
void check_shape(const void* target, const void* source, Bytes bytes, std::source_location where) {
  if constexpr (AlignedShape<Bytes>) {
    check_aligned("memcpy_async of aligned_size_t to memory", target, Bytes::align, where);
    check_aligned("memcpy_async of aligned_size_t from memory", source, Bytes::align, where);
    if (static_cast<std::size_t>(bytes) % Bytes::align != 0) {
      report_failure("memcpy_async: " + std::to_string(static_cast<std::size_t>(bytes)) +
                         " bytes are no multiple of their aligned_size_t's " + std::to_string(Bytes::align),
                     where);
      abandon_thread();
    }
  }
}

// The widest access, up to `widest` bytes, of which the whole copy is made.
ROOFTILE_SIM_UNWATCHED inline std::size_t copy_unit(const GroupCopy& copy, std::size_t widest) {
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(copy.target) |
                             reinterpret_cast<std::uintptr_t>(copy.source) | copy.bytes | widest |
                             kWidestCopy;
  return all & (~all + 1);
}

template <std::size_t kUnit>
__attribute__((always_inline)) inline void copy_at_once(const GroupCopy& copy, std::size_t rank,
                                                        std::size_t threads) {
  for (std::size_t at = rank * kUnit; at < copy.bytes; at += threads * kUnit) {
    copy_access<kUnit>(static_cast<char*>(copy.target) + at, static_cast<const char*>(copy.source) + at);
  }
}

// Neighbouring threads copy neighbouring units. `mbarrier`: that waits for the copies; null: the thread's
// groups do. Whether the copy is asynchronous, which it can be where somebody `may_wait`.
__attribute__((always_inline)) inline bool copy_share(const GroupCopy& copy, std::size_t widest,
                                                      std::size_t rank, std::size_t threads, bool may_wait,
                                                      std::uint64_t* mbarrier, std::source_location where) {
  const std::size_t unit = copy_unit(copy, widest);
  if (unit >= 4 && may_wait && is_async_copy(copy.target, copy.source, copy.bytes)) {
    for (std::size_t at = rank * unit; at < copy.bytes; at += threads * unit) {
      issue_async_copy({static_cast<char*>(copy.target) + at, static_cast<const char*>(copy.source) + at,
                        static_cast<int>(unit), static_cast<int>(unit)},
                       mbarrier, where);
    }
    return true;
  }
  switch (unit) {
    case 16:
      copy_at_once<16>(copy, rank, threads);
      break;
    case 8:
      copy_at_once<8>(copy, rank, threads);
      break;
    case 4:
      copy_at_once<4>(copy, rank, threads);
      break;
    case 2:
      copy_at_once<2>(copy, rank, threads);
      break;
    default:
      copy_at_once<1>(copy, rank, threads);
      break;
  }
  return false;
}

}  // namespace rooftile::simt::detail
