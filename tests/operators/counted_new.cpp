#include "tests/operators/counted_new.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> g_counts = false;
std::atomic<long> g_allocations = 0;
std::atomic<long> g_fails_at = -1;

void* allocate(std::size_t bytes) {
  if (g_counts.load(std::memory_order_relaxed) && g_allocations.fetch_add(1) == g_fails_at.load())
    return nullptr;
  return std::malloc(bytes > 0 ? bytes : 1);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* data = allocate(bytes)) return data;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, const std::nothrow_t&) noexcept { std::free(data); }

namespace rooftile::operators_testing {

CountedNew::CountedNew(long fails_at) {
  g_allocations = 0;
  g_fails_at = fails_at;
  g_counts = true;
}
CountedNew::~CountedNew() { g_counts = false; }
long CountedNew::allocations() { return g_allocations; }

}  // namespace rooftile::operators_testing
