// Rows that pass through rings, one value from a cluster, and rows cut over the grid.
#pragma once

#include <cstdint>

#include "rooftile/core/grid_cut.h"
#include "rooftile/core/row_ring_plan.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile {
namespace testing_sm90a {

inline constexpr int kRowWarps = 2;
inline constexpr int kGridTakes = 2;

struct RowKernels {
  // Each word of a row, plus the sum and the maximum of the row. Rows begin `pitch` words apart; g_out may be g_in.
  Status (*add_totals)(StreamRef, const std::uint32_t* g_in, std::int64_t rows, std::int64_t n,
                       std::int64_t pitch, const RowRingPlan& plan, std::uint32_t* g_out);
  // The sum of the words, kRowWarps warps' of each block of a cluster, as every thread has it; twice: of the words, and of
  // the words and one more each.
  Status (*cluster_sums)(StreamRef, const std::uint32_t* g_in, unsigned blocks, std::uint32_t* g_sums);
  // Each word of a row, plus the sum of the row; of rows 1, 4, 7 ... plus the number of its words, too. Rows begin `pitch` words apart,
  // whole vectors each; zeroed: grid_meeting_bytes of zeros, as which it is left. g_out may be g_in.
  Status (*grid_sums)(StreamRef, const std::uint32_t* g_in, int rows, int n, std::int64_t pitch,
                      const GridCut& cut, void* zeroed, std::uint32_t* g_out);
};

}  // namespace testing_sm90a

namespace sim {
testing_sm90a::RowKernels row_test_kernels();
}
namespace cuda {
testing_sm90a::RowKernels row_test_kernels();
}

}  // namespace rooftile
