#include "rooftile/sim/checked/shadow_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <new>

namespace rooftile::simt::checked {
namespace {

constexpr std::size_t kGranule = std::size_t{1} << 21;   // a huge page
constexpr std::size_t kMostKept = std::size_t{1} << 29;  // bytes

// Faulting the pages of a shadow in costs as much as the checks of a small launch.
class Pool {
 public:
  ~Pool() {
    for (const auto& [bytes, memory] : kept_) munmap(memory, bytes);
  }
  void* take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.find(bytes);
    if (found == kept_.end()) return nullptr;
    void* const memory = found->second;
    kept_.erase(found);
    kept_bytes_ -= bytes;
    return memory;
  }
  void give(void* memory, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (kept_bytes_ + bytes > kMostKept) {
      munmap(memory, bytes);
      return;
    }
    kept_.emplace(bytes, memory);
    kept_bytes_ += bytes;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::size_t, void*> kept_;
  std::size_t kept_bytes_ = 0;
};

Pool& pool() {
  static Pool all;
  return all;
}

std::size_t rounded(std::size_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

}  // namespace

void ReturnShadowMemory::operator()(std::byte* memory) const { pool().give(memory, bytes); }

ShadowMemory take_shadow_memory(std::size_t bytes) {
  bytes = rounded(bytes);
  void* memory = pool().take(bytes);
  if (memory == nullptr) {
    // Aligned, so that it may be of huge pages: a kernel that writes columns touches a page per lane.
    void* const mapped = mmap(nullptr, bytes + kGranule, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    auto* const start = static_cast<std::byte*>(mapped);
    const std::size_t skipped = (kGranule - reinterpret_cast<std::uintptr_t>(start) % kGranule) % kGranule;
    if (skipped > 0) munmap(start, skipped);
    if (skipped < kGranule) munmap(start + skipped + bytes, kGranule - skipped);
    memory = start + skipped;
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish
  }
  return {static_cast<std::byte*>(memory), {bytes}};
}

}  // namespace rooftile::simt::checked
