// What a GPU says of itself while it is measured: clocks, power, temperature, and why it is slowed down. By NVML, which
// comes with the driver and is looked for at run time: where it is not there, the reason stands in its place.
#pragma once

#include <memory>
#include <string>

#include "rooftile/core/device.h"

namespace rooftile::lab {

struct GpuConditions {
  std::string unknown;  // why nothing is known; empty: it is
  std::string uuid;
  int samples = 0;
  double lowest_sm_mhz = 0;
  double highest_sm_mhz = 0;
  double memory_mhz = 0;
  double power_limit_w = 0;
  double mean_power_w = 0;
  double highest_power_w = 0;
  double highest_celsius = 0;
  // Of what the driver names as reasons those that slow a GPU down: "power cap, thermal"; empty: none was seen.
  std::string slowed_by;
};

// Watches one GPU, four times a second, from its making until finish().
class GpuMonitor {
 public:
  explicit GpuMonitor(Device device);
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;
  ~GpuMonitor();
  [[nodiscard]] GpuConditions finish();

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

// The names of the bits of nvmlDeviceGetCurrentClocksEventReasons that slow a GPU down.
[[nodiscard]] std::string slowing_reasons(unsigned long long bits);

}  // namespace rooftile::lab
