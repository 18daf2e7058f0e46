#include "tests/device/sm90a_rows.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/row_threads.h"
#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm90a/cluster_reduce.h"
#include "rooftile/device/sm90a/grid_rows.h"
#include "rooftile/device/sm90a/row_ring.h"
#include "tests/device/word_sums.h"

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

using GridSums = WordSums<kGridTakes>;

template <int kThreads, int kVectors>
__global__ void __launch_bounds__(kGridThreads, 1)
    grid_sums_kernel(GridRowsOf<std::uint32_t, kGridTakes> call, std::int64_t pitch, std::uint32_t* g_out) {
  using Rows = GridRows<std::uint32_t, kThreads, kVectors, GridSums>;
  using Row = typename Rows::Row;
  __shared__ typename Rows::Shared s_rows;
  ROOFTILE_DYN_SHARED(uint4, s_slots);
  Rows rows(call, s_rows, s_slots);
  rows.start();
  constexpr int kGroups = Rows::kGroups;
  int r = RowThreads<kThreads>::row();
  rows.for_each(
      [&](Row& row, auto meet) {
        const auto sum_of = [&](std::uint32_t more) {
          std::uint32_t sum = 0;
          row.for_each([&](const auto& vec, int first) {
#pragma unroll
            for (int e = 0; e < Row::kElements; ++e) sum += vec[e] + (row.has_all(first) ? more : 0);
          });
          return sum;
        };
        std::uint32_t total = meet(sum_of(0));
        if (r % 3 == 1) total = meet(sum_of(1));
        r += kGroups;
        return total;
      },
      [&](const Row& row, int stored, std::uint32_t total, bool) {
        row.store(g_out + stored * pitch, [&](auto vec, int) {
#pragma unroll
          for (int e = 0; e < Row::kElements; ++e) vec[e] += total;
          return vec;
        });
      });
}

Status grid_sums(StreamRef stream, const std::uint32_t* g_in, int rows, int n, std::int64_t pitch,
                 const GridCut& cut, void* zeroed, std::uint32_t* g_out) {
  return with_grid_shape(cut.shape, [&]<int kThreads, int kVectors>() {
    return launch(grid_sums_kernel<kThreads, kVectors>, grid_launch(cut, stream),
                  GridRowsOf<std::uint32_t, kGridTakes>{
                      .g_x = g_in,
                      .x_pitch = pitch,
                      .rows = rows,
                      .length = n,
                      .part = cut.part,
                      .meeting = RowMeeting<kGridTakes>::of(zeroed, rows, cut.blocks)},
                  pitch, g_out);
  });
}

}  // namespace

RowKernels row_test_kernels() { return {add_totals, cluster_sums, grid_sums}; }

}  // namespace rooftile::ROOFTILE_TARGET
