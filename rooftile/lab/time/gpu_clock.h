// The clock of a GPU's SMs, by a kernel that reads both of its counters.
#pragma once

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

}  // namespace rooftile::lab
