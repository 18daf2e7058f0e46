// What the forms of cuda::memcpy_async have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include "rooftile/sim/group_copy.h"
#include "rooftile/sim/libcu/scope.h"

namespace rooftile::simt::libcu {

// So many bytes, a multiple of kAlignment, as both addresses are.
template <std::size_t kAlignment>
struct aligned_size_t {
  static constexpr std::size_t align = kAlignment;
  std::size_t value;
  constexpr explicit aligned_size_t(std::size_t bytes) : value(bytes) {}
  constexpr operator std::size_t() const { return value; }  // NOLINT(google-explicit-constructor)
};

// Who does the copy: the thread at once, or the hardware.
enum class async_contract_fulfillment { none, async };

namespace copy_detail {

// The library knows of the alignment what the types say.
template <class T, class Bytes>
constexpr std::size_t known_alignment() {
  if constexpr (detail::AlignedShape<Bytes>) {
    return Bytes::align < detail::kWidestCopy ? Bytes::align : detail::kWidestCopy;
  } else if constexpr (std::is_void_v<T>) {
    return 1;
  } else {
    return alignof(T) < detail::kWidestCopy ? alignof(T) : detail::kWidestCopy;
  }
}

// `may_wait`: whether `mbarrier` (null: the thread's groups) can wait for an asynchronous copy.
template <class T, class Bytes>
__attribute__((always_inline)) inline async_contract_fulfillment copy(T* target, const T* source, Bytes bytes,
                                                                      std::size_t rank, std::size_t threads,
                                                                      std::uint64_t* mbarrier, bool may_wait,
                                                                      std::source_location where) {
  detail::check_shape(target, source, bytes, where);
  constexpr std::size_t kWidest = known_alignment<T, Bytes>();
  const detail::GroupCopy task{target, source, static_cast<std::size_t>(bytes)};
  const bool is_async = detail::copy_share(task, kWidest, rank, threads, may_wait, mbarrier, where);
  return is_async ? async_contract_fulfillment::async : async_contract_fulfillment::none;
}

}  // namespace copy_detail
}  // namespace rooftile::simt::libcu
