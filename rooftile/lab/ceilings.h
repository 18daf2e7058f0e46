// What a device's memory reaches: the streaming rates that `rooftile device` prints.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/device.h"
#include "rooftile/core/status.h"

namespace rooftile::lab {

struct MeasuredRate {
  std::string name;  // "read", "write", "copy"
  double bytes = 0;  // moved by one launch
  double gbps = 0;   // 1e9 bytes per second, the median, caches flushed before each launch
};

// Read, write and 1:1 copy, each moving `bytes`. On cuda and cpu; the simulated SM has no time.
[[nodiscard]] Result<std::vector<MeasuredRate>> measure_streaming(Device device, double bytes);

}  // namespace rooftile::lab
