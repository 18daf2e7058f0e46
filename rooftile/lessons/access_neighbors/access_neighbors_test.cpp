// What is special to access_neighbors: of coordinates it makes the table of who sits beside whom in a warp,
// and its contract at the edges. The cases themselves run through the lab.
#include "rooftile/lessons/access_neighbors/access_neighbors.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "rooftile/core/operator.h"

namespace rooftile {
namespace {

// The lecture's own output: who are the 32 threads of the warp of thread (x, y, z)?
TEST(AccessNeighborsTest, NamesTheThreadsOfAWarp) {
  std::vector<float> coordinates;
  for (int z = 0; z < 8; ++z) {
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) coordinates.push_back(static_cast<float>(100 * z + 10 * y + x));
    }
  }
  for (const Device device : {kCpu, kSim}) {
    Result<Context> context = Context::create(device);
    ASSERT_TRUE(context.ok()) << context.status().message();
    std::vector<float> seen(std::size_t{512} * 32, -1.0f);
    const Status status =
        run(access_neighbors_operator(), *context,
            ArgsRef::of(AccessNeighborsArgs{.x = view(coordinates.data(), {8, 8, 8}, device),
                                            .y = view(seen.data(), {8, 8, 8, 32}, device)}));
    ASSERT_TRUE(status.ok()) << status.message();
    // Thread (5, 6, 2) is in the warp of rows 4 to 7 of layer 2, with (0, 4, 2) as lane 0 and (1, 5, 2) as 9.
    const float* const warp = &seen[static_cast<std::size_t>((2 * 64 + 6 * 8 + 5) * 32)];
    EXPECT_EQ(warp[0], 240.0f);
    EXPECT_EQ(warp[9], 251.0f);
    EXPECT_EQ(warp[21], 265.0f);  // itself
    EXPECT_EQ(warp[31], 277.0f);
  }
}

TEST(AccessNeighborsTest, RefusesOtherShapes) {
  Result<Context> context = Context::create(kCpu);
  ASSERT_TRUE(context.ok()) << context.status().message();
  std::vector<float> memory(4096);
  const auto run = [&](const Extents& x, const Extents& y) {
    return rooftile::run(access_neighbors_operator(), *context,
                         ArgsRef::of(AccessNeighborsArgs{.x = view(memory.data(), x),
                                                         .y = view(memory.data() + 64, y)}))
        .rule();
  };
  EXPECT_EQ(run({8, 8}, {8, 8, 32}), "x must have 3 dimensions");
  EXPECT_EQ(run({1, 2, 3}, {1, 2, 3, 31}), "y must have the shape [1,2,3,32]");
  EXPECT_EQ(run({1, 2, 3}, {1, 2, 3, 32}), "");
}

}  // namespace
}  // namespace rooftile
