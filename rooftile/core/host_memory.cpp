#include "rooftile/core/detail/host_memory.h"

#include <sys/sysinfo.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "rooftile/core/detail/fault.h"
#include "rooftile/core/memory.h"

namespace rooftile::detail {
namespace {

struct MachineMemory {
  std::size_t physical = 0;
  std::size_t with_swap = 0;
};

MachineMemory machine_memory() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return {};
  const std::size_t unit = info.mem_unit;
  return {info.totalram * unit, (info.totalram + info.totalswap) * unit};
}

Status out_of_host_memory(std::size_t bytes) {
  return Status::error(StatusCode::out_of_memory,
                       format_bytes(bytes) + " of host memory cannot be allocated (this machine has " +
                           format_bytes(host_memory_bytes()) + "): use a smaller shape");
}

}  // namespace

Result<void*> allocate_host(std::size_t bytes) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  if (take_allocation_fault()) return out_of_host_memory(bytes);
  static const std::size_t limit = machine_memory().with_swap;
  if (limit != 0 && bytes > limit) return out_of_host_memory(bytes);
  if (bytes > SIZE_MAX - kAllocationAlignment) return out_of_host_memory(bytes);
  const std::size_t rounded =
      (bytes + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment;
  void* data = std::aligned_alloc(kAllocationAlignment, rounded);
  if (data == nullptr) return out_of_host_memory(bytes);
  return data;
}

void free_host(void* data) { std::free(data); }

std::size_t host_memory_bytes() {
  static const std::size_t bytes = machine_memory().physical;
  return bytes;
}

std::string format_bytes(std::size_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", value < 10 ? 2 : 1, value, kUnits[unit]);
  return text.data();
}

}  // namespace rooftile::detail
