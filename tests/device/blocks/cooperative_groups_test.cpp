// Cooperative groups beside our blocks: what corresponds to what stands in cooperative_groups_kernels.h.
#include <numeric>

#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/cooperative_groups_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class CooperativeGroups : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(CooperativeGroups);

TEST_P(CooperativeGroups, GiveWhatOurBlocksGive) {
  const std::vector<std::uint32_t> in = random_values<std::uint32_t>(kGroupThreads, 31);
  const DeviceArray<std::uint32_t> g_in = upload(in);
  const DeviceArray<std::uint32_t> g_out =
      poisoned<std::uint32_t>(std::size_t{2} * kGroupPairs * kGroupThreads);
  ASSERT_TRUE(is_ok(run_group_pairs(stream(), g_in.data(), g_out.data())));
  const std::vector<std::uint32_t> out = g_out.read();
  for (std::size_t t = 0; t < kGroupThreads; ++t) {
    const auto warp = in.begin() + static_cast<std::ptrdiff_t>(t / 32 * 32);
    const auto eighth = in.begin() + static_cast<std::ptrdiff_t>(t / 8 * 8);
    const std::uint32_t expected[kGroupPairs] = {std::accumulate(warp, warp + 32, 0u),
                                                 warp[5],
                                                 in[t % 32 == 0 ? t : t - 1],
                                                 in[t ^ 16],
                                                 static_cast<std::uint32_t>(t),
                                                 *std::max_element(eighth, eighth + 8),
                                                 in[77]};
    for (std::size_t pair = 0; pair < kGroupPairs; ++pair) {
      ASSERT_EQ(out[2 * pair * kGroupThreads + t], expected[pair]) << "library, pair " << pair << ", " << t;
      ASSERT_EQ(out[(2 * pair + 1) * kGroupThreads + t], expected[pair])
          << "ours, pair " << pair << ", " << t;
    }
  }
}

TEST_P(CooperativeGroups, GridSyncAndTheLastBlock) {
  constexpr std::size_t kBlocks = 20;
  const std::vector<std::uint32_t> in = random_values<std::uint32_t>(kBlocks * kGroupThreads, 37);
  const std::uint32_t total = std::accumulate(in.begin(), in.end(), 0u);
  const DeviceArray<std::uint32_t> g_in = upload(in);
  const DeviceArray<std::uint32_t> g_counter = upload(std::vector<std::uint32_t>{0});
  for (const bool cooperative : {true, false}) {
    const DeviceArray<std::uint32_t> g_partials = poisoned<std::uint32_t>(kBlocks);
    const DeviceArray<std::uint32_t> g_totals = poisoned<std::uint32_t>(kBlocks);
    ASSERT_TRUE(is_ok(run_grid_sum(stream(), cooperative, kBlocks, g_in.data(), g_partials.data(),
                                   g_counter.data(), g_totals.data())));
    EXPECT_EQ(g_totals.read(), std::vector<std::uint32_t>(kBlocks, total)) << "cooperative " << cooperative;
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
