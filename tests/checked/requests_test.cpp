// What a request of a warp costs where an H200 was seen to count it: gemm's loads of 16 bytes (docs/calibration.md).
#include "rooftile/sim/checked/requests.h"

#include <gtest/gtest.h>

namespace rooftile::simt::checked {
namespace {

template <class Place>
SharedCost cost_of(unsigned bytes, Place place, std::uint32_t lanes = ~0u) {
  WarpRequest request{.lanes = lanes, .bytes = bytes};
  for (unsigned lane = 0; lane < kLanes; ++lane) request.address[lane] = place(lane);
  return shared_cost(request);
}

TEST(SharedCost, OfSixteenBytesGoesByQuarters) {
  EXPECT_EQ(cost_of(16, [](unsigned lane) { return lane * 16u; }).wavefronts, 4u);
  EXPECT_EQ(cost_of(16, [](unsigned lane) { return lane % 8 * 16u; }).wavefronts, 4u);   // rows of a
  EXPECT_EQ(cost_of(16, [](unsigned lane) { return lane % 16 * 32u; }).wavefronts, 8u);  // thread_tile's b
  EXPECT_EQ(cost_of(
                16, [](unsigned lane) { return lane * 16u; }, 0xffu)
                .wavefronts,
            1u);
}

TEST(SharedCost, OfSixteenBytesThatNeighboursShareGoesByHalves) {
  const SharedCost columns = cost_of(16, [](unsigned lane) { return lane / 8 * 16u; });
  EXPECT_EQ(columns.wavefronts, 2u);
  EXPECT_EQ(columns.ideal_wavefronts, 2u);
  EXPECT_EQ(cost_of(16, [](unsigned lane) { return lane / 16 * 512u; }).wavefronts, 2u);  // thread_tile's a
  EXPECT_EQ(cost_of(16, [](unsigned) { return 64u; }).wavefronts, 2u);                    // shared_tile's a
  // Neighbours that are not there share nothing.
  EXPECT_EQ(cost_of(
                16, [](unsigned lane) { return lane / 8 * 16u; }, 0x55555555u)
                .wavefronts,
            4u);
  // One pair that differs keeps its half in quarters.
  EXPECT_EQ(cost_of(16, [](unsigned lane) { return lane == 3 ? 64u : lane / 8 * 16u; }).wavefronts, 3u);
}

TEST(SharedCost, OfLessDoesNotAskForNeighbours) {
  EXPECT_EQ(cost_of(4, [](unsigned lane) { return lane * 4u; }).wavefronts, 1u);
  EXPECT_EQ(cost_of(4, [](unsigned lane) { return lane * 8u; }).wavefronts, 2u);
  EXPECT_EQ(cost_of(8, [](unsigned lane) { return lane * 8u; }).wavefronts, 2u);
  EXPECT_EQ(cost_of(8, [](unsigned) { return 0u; }).wavefronts, 2u);
}

}  // namespace
}  // namespace rooftile::simt::checked
