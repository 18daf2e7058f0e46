// Warpgroups that change their number of registers.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile {
namespace testing_sm90a {

inline constexpr int kSetmaxnregThreads = 384;

enum class SetmaxnregMisuse { none, one_warp_does_not, one_warp_otherwise, no_warpgroup, decreases_twice };

struct SetmaxnregKernels {
  // The first warpgroup hands g_in over, value by value, through shared memory; the two others hold 128 values of it at
  // once in each thread: g_out[thread] = the sum of i * g_in[(i + thread) % 256] for i below 128.
  Status (*hand_over)(StreamRef, const std::uint32_t* g_in, std::uint32_t* g_out);
  // For the simulated SM alone.
  Status (*misuse)(StreamRef, SetmaxnregMisuse);
};

}  // namespace testing_sm90a

namespace sim {
testing_sm90a::SetmaxnregKernels setmaxnreg_test_kernels();
}
namespace cuda {
testing_sm90a::SetmaxnregKernels setmaxnreg_test_kernels();
}
}  // namespace rooftile
