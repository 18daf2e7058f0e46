#include "rooftile/core/detail/fault.h"

#include <atomic>

namespace rooftile::detail {
namespace {
constexpr int kOff = -1;
std::atomic<int> g_successes_left{kOff};
}  // namespace

void fail_allocation_after(int k) { g_successes_left.store(k < 0 ? kOff : k); }

bool take_allocation_fault() {
  int left = g_successes_left.load(std::memory_order_relaxed);
  while (left != kOff) {
    // Zero left: this allocation fails, and kOff (one below) follows.
    if (g_successes_left.compare_exchange_weak(left, left - 1)) return left == 0;
  }
  return false;
}

}  // namespace rooftile::detail
