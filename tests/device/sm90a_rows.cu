#include "tests/device/sm90a_rows.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/row_threads.h"
#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm90a/cluster_reduce.h"
#include "rooftile/device/sm90a/row_ring.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

struct Totals {
  std::uint32_t sum;
  std::uint32_t maximum;
};

__device__ __forceinline__ Totals combined(const Totals& a, const Totals& b) {
  return {a.sum + b.sum, a.maximum < b.maximum ? b.maximum : a.maximum};
}

template <bool kClustered>
__global__ void __launch_bounds__((kRowWarps + 1) * kWarpSize)
    add_totals_kernel(const std::uint32_t* g_in, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                      RowRingPlan plan, std::uint32_t* g_out) {
  __shared__ RowRingShared<kRowWarps, Totals> s;
  ROOFTILE_DYN_SHARED(uint4, s_ring);
  using Ring = RowRing<std::uint32_t, kRowWarps, Totals, kClustered>;
  Ring ring(s, s_ring, plan);
  const std::int64_t first = blockIdx.x / static_cast<unsigned>(plan.blocks);
  if (Ring::is_producer()) {
    ring.load(rows, first, plan.clusters, n, [&](std::int64_t row) { return g_in + row * pitch; });
  } else {
    for (std::int64_t row = first; row < rows; row += plan.clusters) {
      ring.begin(g_in + row * pitch, n);
      Totals totals{0, 0};
      ring.for_each_arriving(0u, [&](const auto& vec) {
#pragma unroll
        for (int e = 0; e < 4; ++e) totals = combined(totals, {vec[e], vec[e]});
      });
      totals = ring.all_reduce(totals, {0, 0}, combined, [](auto lanes, const Totals& own) {
        return lanes_reduce<lanes>(own, combined);
      });
      ring.write(g_out + row * pitch, 0u, [&](auto vec) {
#pragma unroll
        for (int e = 0; e < 4; ++e) vec[e] += totals.sum + totals.maximum;
        return vec;
      });
    }
  }
  ring.finish();
}

Status add_totals(StreamRef stream, const std::uint32_t* g_in, std::int64_t rows, std::int64_t n,
                  std::int64_t pitch, const RowRingPlan& plan, std::uint32_t* g_out) {
  return launch(plan.blocks > 1 ? add_totals_kernel<true> : add_totals_kernel<false>,
                {.grid = dim3(static_cast<unsigned>(plan.clusters * plan.blocks)),
                 .block = dim3((kRowWarps + 1) * kWarpSize),
                 .shared_bytes = static_cast<std::size_t>(plan.stages * ring_stage_bytes(kRowWarps)),
                 .stream = stream,
                 .cluster = dim3(static_cast<unsigned>(plan.blocks))},
                g_in, rows, n, pitch, plan, g_out);
}

__global__ void __launch_bounds__(kRowWarps* kWarpSize)
    cluster_sums_kernel(const std::uint32_t* g_in, std::uint32_t* g_sums) {
  __shared__ ClusterFound<std::uint32_t, kRowWarps> s_found[2];
  if (threadIdx.x == 0) {
    for (auto& found : s_found) found.init();
    fence_mbarrier_init();
  }
  cluster_sync();
  const unsigned i = blockIdx.x * kRowWarps * kWarpSize + threadIdx.x;
  const auto add = [](std::uint32_t a, std::uint32_t b) { return a + b; };
  const auto over_lanes = [&](auto lanes, std::uint32_t own) { return lanes_reduce<lanes>(own, add); };
  for (unsigned more = 0; more < 2; ++more)
    g_sums[2 * i + more] = cluster_all_reduce(s_found[more], 0, g_in[i] + more, 0u, add, over_lanes);
}

Status cluster_sums(StreamRef stream, const std::uint32_t* g_in, unsigned blocks, std::uint32_t* g_sums) {
  return launch(
      cluster_sums_kernel,
      {.grid = dim3(blocks), .block = dim3(kRowWarps * kWarpSize), .stream = stream, .cluster = dim3(blocks)},
      g_in, g_sums);
}

}  // namespace

RowKernels row_test_kernels() { return {add_totals, cluster_sums}; }

}  // namespace rooftile::ROOFTILE_TARGET
