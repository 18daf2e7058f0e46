// stmatrix of every form, to rows that lie anywhere.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile {
namespace testing_sm90a {

inline constexpr int kStmatrixMemory = 4096;  // bytes

struct StmatrixKernels {
  // One warp: shared memory starts as zeros and ends in g_out. Lane l names the row at byte g_rows[l], and
  // r[i] is g_in[l * matrices + i].
  Status (*store)(StreamRef, int matrices, bool transposed, const std::uint32_t* g_in,
                  const std::uint32_t* g_rows, std::uint32_t* g_out);
};

}  // namespace testing_sm90a

namespace sim {
testing_sm90a::StmatrixKernels stmatrix_test_kernels();
}
namespace cuda {
testing_sm90a::StmatrixKernels stmatrix_test_kernels();
}
}  // namespace rooftile
