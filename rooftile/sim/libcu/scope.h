// Scopes, memory orders, and what namespace cuda shows. The names live in rooftile::simt::libcu: other parts
// of the program may use CUDA's own library.
#pragma once

#include <atomic>
#include <chrono>
#include <utility>

#include "rooftile/sim/thread.h"

namespace rooftile::simt::libcu {

// One coherent host serves them all, but for barriers: those of a block are mbarriers.
enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread = 10,
};

using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

}  // namespace rooftile::simt::libcu

namespace cuda {
using namespace ::rooftile::simt::libcu;  // NOLINT(google-build-using-namespace): it shows these names

namespace std {
namespace chrono = ::std::chrono;
using ::std::forward;
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;
using ::std::move;
}  // namespace std
}  // namespace cuda
