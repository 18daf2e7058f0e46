// The C names of cp.async.
#pragma once

#include <cstddef>
#include <source_location>
#include <string>

#include "rooftile/sim/alignment.h"
#include "rooftile/sim/async_copy.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

// Of the `bytes` (4, 8 or 16) the last `zeros` are not read, and become zeros.
__attribute__((always_inline)) inline void __pipeline_memcpy_async(
    void* s_target, const void* g_source, std::size_t bytes, std::size_t zeros = 0,
    std::source_location where = std::source_location::current()) {
  if (bytes != 4 && bytes != 8 && bytes != 16) [[unlikely]] {
    detail::report_failure("__pipeline_memcpy_async: of 4, 8 or 16 bytes, not " + std::to_string(bytes),
                           where);
    detail::abandon_thread();
  }
  detail::check_aligned("__pipeline_memcpy_async to shared memory", s_target, bytes, where);
  if (zeros < bytes) {
    detail::check_aligned("__pipeline_memcpy_async from global memory", g_source, bytes, where);
  }
  detail::issue_async_copy(
      {s_target, g_source, static_cast<int>(bytes), static_cast<int>(bytes) - static_cast<int>(zeros)},
      where);
}
inline void __pipeline_commit() { detail::commit_async_copies(); }
inline void __pipeline_wait_prior(std::size_t groups,
                                  std::source_location where = std::source_location::current()) {
  detail::wait_async_copies(static_cast<int>(groups), where);
}

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
