// Clusters: what goes wrong between their blocks is found, and named with its line; right kernels are not
// reported.
#include "tests/checked/planted.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;

const Planted<ClusterBug> kPlanted[] = {
    {ClusterBug::remote_uninitialised, "remote_uninitialised", FindingKind::uninitialised,
     "reads byte 20 of shared s_values of block (", "remote_read_early"},
    {ClusterBug::remote_read_early, "remote_read_early", FindingKind::race, "of block ("},
    {ClusterBug::remote_written_by_two, "remote_written_by_two", FindingKind::race, "of shared s_values"},
    {ClusterBug::global_not_ordered, "global_not_ordered", FindingKind::race, "of out, which thread"},
    {ClusterBug::left_early, "left_early", FindingKind::left_cluster, "cluster_sync() before the end",
     "remote_read_early"},
    {ClusterBug::left_between, "left_between", FindingKind::failure,
     "returned between cluster_arrive and cluster_wait"},
    {ClusterBug::bulk_send_not_waited, "bulk_send_not_waited", FindingKind::race, "of shared s_values",
     "send_not_waited"},
    {ClusterBug::bulk_send_overwritten, "bulk_send_overwritten", FindingKind::race,
     "an asynchronous copy read"},
    {ClusterBug::bulk_send_without_fence, "bulk_send_without_fence", FindingKind::missing_proxy_fence,
     "starts a bulk_send that reads"},
    {ClusterBug::store_async_not_waited, "store_async_not_waited", FindingKind::race, "of shared s_values",
     "send_not_waited"},
    {ClusterBug::multicast_not_waited, "multicast_not_waited", FindingKind::race, "of shared s_values"},
};

const ClusterBug kRight[] = {ClusterBug::none_exchange, ClusterBug::none_remote_arrive,
                             ClusterBug::none_bulk_send, ClusterBug::none_store_async,
                             ClusterBug::none_multicast};

// With room for three clusters.
struct Memory {
  DeviceVector<int> in = DeviceVector<int>(64, 1);
  DeviceVector<int> out = DeviceVector<int>(std::size_t{3} * 128);
  [[nodiscard]] std::vector<Buffer> buffers() const {
    return {{"in", in.data(), in.size() * sizeof(int), true, true},
            {"out", out.data(), out.size() * sizeof(int), false}};
  }
};

class Clusters : public PlantedBugs<ClusterBug> {};

TEST_P(Clusters, BugsAreFoundWithTheirLine) {
  Memory memory;
  expect_found_in("cluster_kernels.cu", memory.buffers(), [&](ClusterBug bug) {
    return run_cluster_bug(kStream, bug, 1, memory.in.data(), memory.out.data());
  });
}

INSTANTIATE_TEST_SUITE_P(Planted, Clusters,
                         ::testing::Combine(::testing::ValuesIn(kPlanted), all_schedules()),
                         planted_name<ClusterBug>);

class RightClusters : public RightKernels {};

TEST_P(RightClusters, AreNotReported) {
  for (const ClusterBug right : kRight) {
    Memory memory;
    const Report report = watch({.metrics = std::get<1>(GetParam())}, memory.buffers(), [&] {
      return run_cluster_bug(kStream, right, 3, memory.in.data(), memory.out.data());
    });
    EXPECT_EQ(describe(report), "") << static_cast<int>(right);
    EXPECT_TRUE(report.kernels.at(0).at_once) << static_cast<int>(right);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, RightClusters, all_schedules(), schedule_name);

}  // namespace
}  // namespace rooftile::checked_testing
