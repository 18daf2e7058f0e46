#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "rooftile/core/detail/backend.h"
#include "rooftile/core/detail/host_memory.h"

namespace rooftile::detail {
namespace {

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

// The threads that this process may use, which is fewer than the machine has in a container with a CPU set.
int hardware_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  const unsigned threads = std::thread::hardware_concurrency();
  return threads > 0 ? static_cast<int>(threads) : 1;
}

std::size_t last_level_cache_bytes() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<std::size_t>(bytes);
  }
  return 0;
}

DeviceProperties cpu_properties() {
  DeviceProperties properties;
  properties.device = kCpu;
  properties.name = cpu_name();
  properties.multiprocessors = hardware_threads();
  properties.last_level_cache = last_level_cache_bytes();
  properties.memory_bytes = host_memory_bytes();
  return properties;
}

// The limits of one sm_90 SM; few SMs, so that a grid that fills the device stays small enough to simulate.
DeviceProperties sim_properties() {
  DeviceProperties properties;
  properties.device = kSim;
  properties.name = "simulated SM (sm_90)";
  properties.compute_capability = 90;
  properties.multiprocessors = 4;
  properties.max_threads_per_block = 1024;
  properties.max_threads_per_multiprocessor = 2048;
  properties.shared_memory_per_block = std::size_t{227} * 1024;
  properties.last_level_cache = std::size_t{1} << 20;
  properties.memory_bytes = host_memory_bytes();
  return properties;
}

class HostBackend final : public Backend {
 public:
  Result<DeviceProperties> properties(Device device) override {
    return device.kind == DeviceKind::sim ? sim_properties() : cpu_properties();
  }

  Result<void*> allocate(Device, std::size_t bytes) override { return allocate_host(bytes); }
  void free(Device, void* data) override { free_host(data); }
  Result<void*> allocate_pinned(Device, std::size_t bytes) override { return allocate_host(bytes); }
  void free_pinned(Device, void* data) override { free_host(data); }

  Result<void*> create_pool(Device) override { return static_cast<void*>(nullptr); }
  void destroy_pool(Device, void*) override {}
  Result<void*> pool_allocate(void*, StreamRef, std::size_t bytes) override { return allocate_host(bytes); }
  // Earlier work of the stream is done: nothing holds the memory any more.
  Status pool_release(StreamRef, void* data) override {
    free_host(data);
    return {};
  }

  Status copy(StreamRef, void* destination, Device, const void* source, Device, std::size_t bytes) override {
    std::memmove(destination, source, bytes);
    return {};
  }
  Status fill(StreamRef, void* data, int value, std::size_t bytes) override {
    std::memset(data, value, bytes);
    return {};
  }

  Result<void*> create_stream(Device) override { return static_cast<void*>(nullptr); }
  void destroy_stream(StreamRef) override {}
  Status synchronize(StreamRef) override { return {}; }
  Result<bool> is_capturing(StreamRef) override { return false; }
};

}  // namespace

Backend& host_backend() {
  // Never destroyed: a Context with static lifetime may outlive it otherwise.
  static Backend& backend = *new HostBackend;
  return backend;
}

}  // namespace rooftile::detail
