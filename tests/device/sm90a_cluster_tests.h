// Clusters, distributed shared memory and dependent launches against plain loops. Included by one test
// program per target.
#pragma once

#include <algorithm>
#include <optional>

#include "tests/device/sm90a_cluster.h"
#include "tests/device/sm90a_testing.h"

namespace rooftile::testing_sm90a {

class Sm90aCluster : public ::testing::TestWithParam<Target<ClusterKernels>> {
 protected:
  void SetUp() override { start(GetParam(), context_); }
  [[nodiscard]] const ClusterKernels& kernels() const { return GetParam().kernels; }
  [[nodiscard]] StreamRef stream() const { return context_->stream(); }
  [[nodiscard]] DeviceArray<std::uint32_t> words(std::size_t count) const {
    return {*context_, std::vector<std::uint32_t>(count, 0xdeadbeef)};
  }
  std::optional<Context> context_;
};

constexpr unsigned kClusterSizes[] = {1, 2, 3, 4, 8, 16};  // 16 needs to be asked for
constexpr unsigned kRemoteSizes[] = {2, 3, 4, 8, 16};      // st.async and bulk_send need a neighbour

TEST_P(Sm90aCluster, RanksAndIndices) {
  const Extent grid{4, 6, 2};
  for (const Extent cluster :
       {Extent{1, 1, 1}, Extent{2, 1, 1}, Extent{1, 3, 1}, Extent{2, 2, 2}, Extent{4, 2, 1}}) {
    const std::size_t count = std::size_t{grid.x} * grid.y * grid.z;
    const DeviceArray<ClusterView> views(*context_, std::vector<ClusterView>(count));
    ASSERT_TRUE(is_ok(kernels().view(stream(), grid, cluster, views.data())));
    const std::vector<ClusterView> seen = views.read();
    for (unsigned b = 0; b < count; ++b) {
      const Extent block{b % grid.x, b / grid.x % grid.y, b / (grid.x * grid.y)};
      const Extent in{block.x % cluster.x, block.y % cluster.y, block.z % cluster.z};
      const auto equal = [](const Extent& a, const Extent& c) {
        return a.x == c.x && a.y == c.y && a.z == c.z;
      };
      EXPECT_EQ(seen[b].rank, in.x + cluster.x * (in.y + cluster.y * in.z)) << b;
      EXPECT_EQ(seen[b].blocks, cluster.x * cluster.y * cluster.z) << b;
      EXPECT_TRUE(equal(seen[b].block_index, in)) << b;
      EXPECT_TRUE(equal(seen[b].extent, cluster)) << b;
      EXPECT_TRUE(
          equal(seen[b].cluster_index, {block.x / cluster.x, block.y / cluster.y, block.z / cluster.z}))
          << b;
    }
  }
}

TEST_P(Sm90aCluster, ReadsAndWritesOfRemoteSharedMemory) {
  constexpr unsigned kClusters = 3;
  for (const unsigned blocks : kClusterSizes) {
    SCOPED_TRACE(blocks);
    const auto out = words(std::size_t{kClusters} * blocks * kClusterThreads);
    ASSERT_TRUE(is_ok(kernels().exchange(stream(), kClusters, blocks, out.data())));
    std::vector<std::uint32_t> expected;
    for (unsigned b = 0; b < kClusters * blocks; ++b) {
      const unsigned first = b / blocks * blocks;
      const unsigned next = first + (b - first + 1) % blocks;
      const unsigned previous = first + (b - first + blocks - 1) % blocks;
      for (unsigned t = 0; t < kClusterThreads; ++t) {
        expected.push_back(10 * next + t + 1000 * (previous + t));
      }
    }
    EXPECT_EQ(out.read(), expected);
  }
}

TEST_P(Sm90aCluster, SplitBarriers) {
  constexpr unsigned kClusters = 2;
  for (const unsigned blocks : kClusterSizes) {
    SCOPED_TRACE(blocks);
    constexpr unsigned kRounds = 20;
    const auto out = words(std::size_t{kClusters} * blocks);
    ASSERT_TRUE(is_ok(kernels().split_barriers(stream(), kClusters, blocks, kRounds, out.data())));
    std::vector<std::uint32_t> expected(std::size_t{kClusters} * blocks, 0);
    for (unsigned b = 0; b < kClusters * blocks; ++b) {
      const unsigned first = b / blocks * blocks;
      for (unsigned r = 0; r < kRounds; ++r) expected[first + (b - first + r) % blocks] += b - first + 1;
    }
    EXPECT_EQ(out.read(), expected);
  }
}

TEST_P(Sm90aCluster, StoreAsync) {
  for (const unsigned blocks : kRemoteSizes) {
    SCOPED_TRACE(blocks);
    const auto out = words(std::size_t{blocks} * blocks * 7);
    ASSERT_TRUE(is_ok(kernels().store_async(stream(), blocks, out.data())));
    std::vector<std::uint32_t> expected;
    for (unsigned to = 0; to < blocks; ++to) {
      for (unsigned from = 0; from < blocks; ++from) {
        for (const unsigned word : {100 * from + to, to, from + 1, from, to, from * to, ~from}) {
          expected.push_back(word);
        }
      }
    }
    EXPECT_EQ(out.read(), expected);
  }
}

TEST_P(Sm90aCluster, RemoteArrivals) {
  for (const unsigned blocks : {2u, 4u, 8u}) {
    SCOPED_TRACE(blocks);
    constexpr unsigned kRounds = 10;
    const auto sums = words(kRounds);
    ASSERT_TRUE(is_ok(kernels().remote_arrivals(stream(), blocks, kRounds, sums.data())));
    std::vector<std::uint32_t> expected(kRounds, 0);
    for (unsigned r = 0; r < kRounds; ++r) {
      for (unsigned rank = 1; rank < blocks; ++rank) {
        for (unsigned t = 0; t < kClusterThreads; ++t) expected[r] += r + rank * t;
      }
    }
    EXPECT_EQ(sums.read(), expected);
  }
}

TEST_P(Sm90aCluster, BulkSend) {
  for (const unsigned blocks : kRemoteSizes) {
    SCOPED_TRACE(blocks);
    constexpr unsigned kBytes = 4096 + 16;
    const std::vector<std::byte> in = some_bytes(std::size_t{blocks} * kBytes);
    const DeviceArray<std::byte> device_in(*context_, in);
    const DeviceArray<std::byte> out(*context_, std::vector<std::byte>(in.size()));
    ASSERT_TRUE(is_ok(kernels().send(stream(), blocks, kBytes, device_in.data(), out.data())));
    const std::vector<std::byte> received = out.read();
    for (unsigned b = 0; b < blocks; ++b) {
      const unsigned previous = (b + blocks - 1) % blocks;
      EXPECT_TRUE(std::equal(received.begin() + b * kBytes, received.begin() + (b + 1) * kBytes,
                             in.begin() + previous * kBytes))
          << b;
    }
  }
}

TEST_P(Sm90aCluster, AChainOfDependentLaunches) {
  constexpr unsigned kCount = 50000;
  constexpr unsigned kLinks = 25;
  const DeviceArray<std::uint32_t> values(*context_, std::vector<std::uint32_t>(kCount, 3));
  std::uint32_t expected = 3;
  for (unsigned link = 0; link < kLinks; ++link) {
    ASSERT_TRUE(is_ok(kernels().link_of_a_chain(stream(), kCount, values.data())));
    expected = 2 * expected + 1;
  }
  EXPECT_EQ(values.read(), std::vector<std::uint32_t>(kCount, expected));
}

}  // namespace rooftile::testing_sm90a
