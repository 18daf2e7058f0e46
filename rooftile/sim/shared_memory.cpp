#include "rooftile/sim/shared_memory.h"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "rooftile/sim/config.h"
#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {
namespace {

int add_module(dl_phdr_info* info, std::size_t, void* data) {
  if (info->dlpi_tls_data == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_TLS) {
      static_cast<std::vector<MemoryRange>*>(data)->push_back(
          {static_cast<std::byte*>(info->dlpi_tls_data), segment.p_memsz});
    }
  }
  return 0;
}

}  // namespace

bool MemoryRange::contains(const void* address, std::size_t count) const {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  return first >= from && count <= bytes && first - from <= bytes - count;
}

const std::vector<MemoryRange>& static_shared_memory() {
  thread_local std::vector<MemoryRange> ranges;
  if (ranges.empty()) dl_iterate_phdr(add_module, &ranges);
  return ranges;
}

bool in_shared_memory(const void* address, std::size_t bytes) {
  // The dynamic part is itself thread-local, at its largest.
  auto* const dynamic = static_cast<std::byte*>(current_block->dynamic_shared);
  if (MemoryRange{dynamic, kMaxDynamicSharedBytes}.contains(address, 1)) {
    return MemoryRange{dynamic, current_block->dynamic_shared_bytes}.contains(address, bytes);
  }
  const std::vector<MemoryRange>& ranges = static_shared_memory();
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const MemoryRange& range) { return range.contains(address, bytes); });
}

void check_shared(const char* operation, const void* address, std::size_t bytes, std::size_t alignment,
                  std::source_location where) {
  std::string wrong;
  if (!in_shared_memory(address, bytes)) {
    wrong = std::to_string(bytes) + " bytes from this address are not in the block's shared memory";
  } else if (const auto off = reinterpret_cast<std::uintptr_t>(address) % alignment; off != 0) {
    wrong = "the shared-memory address must be aligned to " + std::to_string(alignment) + " bytes, and is " +
            std::to_string(off) + " bytes past such a boundary";
  } else {
    return;
  }
  report_failure(operation + (": " + wrong), where);
  std::string().swap(wrong);  // nothing on an abandoned stack is destroyed
  abandon_thread();
}

}  // namespace rooftile::simt::detail
