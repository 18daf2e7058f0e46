// Rows that pass through rings, and one value from a cluster.
#pragma once

#include <cstdint>

#include "rooftile/core/row_ring_plan.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile {
namespace testing_sm90a {

inline constexpr int kRowWarps = 2;

struct RowKernels {
  // Each word of a row, plus the sum and the maximum of the row. Rows begin `pitch` words apart; g_out may be g_in.
  Status (*add_totals)(StreamRef, const std::uint32_t* g_in, std::int64_t rows, std::int64_t n,
                       std::int64_t pitch, const RowRingPlan& plan, std::uint32_t* g_out);
  // The sum of the words, kRowWarps warps' of each block of a cluster, as every thread has it; twice: of the words, and of
  // the words and one more each.
  Status (*cluster_sums)(StreamRef, const std::uint32_t* g_in, unsigned blocks, std::uint32_t* g_sums);
};

}  // namespace testing_sm90a

namespace sim {
testing_sm90a::RowKernels row_test_kernels();
}
namespace cuda {
testing_sm90a::RowKernels row_test_kernels();
}

}  // namespace rooftile
