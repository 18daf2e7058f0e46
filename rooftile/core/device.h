// Devices: where a tensor lives and where a kernel runs.
//
// `cuda:N` is a GPU, `cpu` the host, `sim` the simulated SM (host memory, GPU kernel sources). A program
// built without CUDA knows all three names and reports why `cuda:N` is not usable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rooftile/core/status.h"

namespace rooftile {

enum class DeviceKind : std::uint8_t { cpu, sim, cuda };

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;  // the GPU's ordinal; 0 for cpu and sim

  friend bool operator==(const Device&, const Device&) = default;
};

inline constexpr Device kCpu{DeviceKind::cpu, 0};
inline constexpr Device kSim{DeviceKind::sim, 0};
[[nodiscard]] constexpr Device cuda_device(int index) { return {DeviceKind::cuda, index}; }

[[nodiscard]] std::string to_string(Device device);                // "cuda:0", "cpu", "sim"
[[nodiscard]] Result<Device> parse_device(std::string_view text);  // "cuda" is "cuda:0"

// What a rung needs to know to decide whether and how to run. For `sim` the limits of the modelled SM (sm_90)
// with few SMs, so that a persistent grid stays small; for `cpu` threads and caches.
struct DeviceProperties {
  Device device;
  std::string name;
  int compute_capability = 0;  // 10 * major + minor (90 = sm_90); 0 for cpu
  int multiprocessors = 0;     // SMs, or hardware threads for cpu
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  std::size_t shared_memory_per_block = 0;  // bytes, opt-in limit
  std::size_t last_level_cache = 0;         // bytes: a GPU's L2, a CPU's last level
  std::size_t memory_bytes = 0;
  double peak_bandwidth_gbps = 0;  // 1e9 bytes per second by the datasheet clocks; 0 where unknown
  int driver_version = 0;          // CUDA's encoding (13000 = 13.0); 0 where there is none
  int runtime_version = 0;
};

// Cached after the first call per device; the reference stays valid for the life of the program. Never
// synchronises, and leaves the calling thread's current CUDA device as it was.
[[nodiscard]] Result<const DeviceProperties*> device_properties(Device device);

[[nodiscard]] bool built_with_cuda();
[[nodiscard]] int cuda_device_count();     // 0 where CUDA is not built in or not usable
[[nodiscard]] Status cuda_availability();  // ok, or why no GPU is usable here (driver, build, no device)
[[nodiscard]] Device default_device();     // cuda:0 when usable, else cpu

}  // namespace rooftile
