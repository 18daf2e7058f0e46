#include "rooftile/sim/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace rooftile::simt::detail {
namespace {

// A kernel's local arrays, which CUDA limits to 512 KiB (and so do the simulated kernels' compiler options), and
// calls; AddressSanitizer's redzones need more. Pages that nobody touches are none.
constexpr std::size_t kStackBytes = std::size_t{ROOFTILE_SIM_ASAN ? 1152 : 576} * 1024;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Stacks start at different cache sets: threads of a block touch the same depth of their stacks in turn, and
// equal addresses modulo a page would evict each other.
constexpr std::size_t kColours = 16;
constexpr std::size_t kColourBytes = 192;

}  // namespace

FiberPool::~FiberPool() {
  for (const Slab& slab : slabs_) munmap(slab.memory, slab.bytes);
}

Status FiberPool::reserve(std::size_t count) {
  if (count <= fibers_.size()) return {};
  const std::size_t missing = count - fibers_.size();
  // A page between stacks, and one at either end, stays inaccessible,
  // so that an overflow faults and does not corrupt a neighbour.
  const std::size_t stride = kStackBytes + page_bytes();
  const std::size_t bytes = missing * stride + page_bytes();
  const Slab slab{mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), bytes};
  const auto failed = [] {
    return Status::error(StatusCode::out_of_memory,
                         std::string("the simulated SM cannot map its thread stacks (") +
                             std::strerror(errno) + "): use fewer threads, or raise vm.max_map_count");
  };
  if (slab.memory == MAP_FAILED) return failed();
  for (std::size_t i = 0; i < missing; ++i) {
    if (mprotect(static_cast<char*>(slab.memory) + i * stride + page_bytes(), kStackBytes,
                 PROT_READ | PROT_WRITE) != 0) {
      const Status status = failed();
      munmap(slab.memory, slab.bytes);
      return status;
    }
  }
  slabs_.push_back(slab);
  free_.reserve(count);
  for (std::size_t i = 0; i < missing; ++i) {
    Fiber& fiber = fibers_.emplace_back();
    fiber.context.stack_bottom = static_cast<char*>(slab.memory) + i * stride + page_bytes();
    fiber.context.stack_bytes = kStackBytes - (fibers_.size() % kColours) * kColourBytes;
  }
  return {};
}

void FiberPool::reset(Entry entry) {
  entry_ = entry;
  ++epoch_;
  free_.clear();
  for (auto fiber = fibers_.rbegin(); fiber != fibers_.rend(); ++fiber) free_.push_back(&*fiber);
}

Fiber& FiberPool::take() {
  Fiber& fiber = *free_.back();
  free_.pop_back();
  if (fiber.epoch != epoch_) prepare(fiber);
  return fiber;
}

void FiberPool::prepare(Fiber& fiber) const {
  Context& context = fiber.context;
#if ROOFTILE_SIM_ASAN
  // What an abandoned thread left on this stack is still marked as its frames.
  __asan_unpoison_memory_region(context.stack_bottom, context.stack_bytes);
#endif
  char* top = static_cast<char*>(const_cast<void*>(context.stack_bottom)) + context.stack_bytes;
  context.handle = boost::context::detail::make_fcontext(top, context.stack_bytes, entry_);
  fiber.epoch = epoch_;
}

}  // namespace rooftile::simt::detail
