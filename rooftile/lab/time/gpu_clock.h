// The clock of a GPU's SMs, by a kernel that reads both of its counters.
#pragma once

#include <string>

#include "rooftile/core/device.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

// Enqueues a kernel of one thread that lasts `us` microseconds.
[[nodiscard]] Status spin_cuda(StreamRef stream, double us);

// SM cycles per microsecond, over 2 ms on one SM. Synchronises the stream.
[[nodiscard]] Result<double> sm_clock_mhz(StreamRef stream);

// The highest SM clock that the driver names.
[[nodiscard]] Result<double> rated_sm_clock_mhz(Device device);

// Where it is plugged in, "0000:1b:00.0": what the driver's tools know it by.
[[nodiscard]] Result<std::string> pci_address(Device device);

}  // namespace rooftile::lab
