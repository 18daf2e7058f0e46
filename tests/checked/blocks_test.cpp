// The kernels that prove device/sm80 and device/sm90a on a GPU, watched: bulk copies, tiles, rings, clusters
// of up to 16 blocks. They are right, and are not reported.
#include <optional>

#include "tests/checked/checked_test.h"
#include "tests/device/blocks/cp_async_kernels.h"
#include "tests/device/sm90a_bulk_tests.h"
#include "tests/device/sm90a_cluster_tests.h"
#include "tests/device/sm90a_look_ahead_tests.h"
#include "tests/device/sm90a_rows_tests.h"
#include "tests/device/sm90a_tma_tests.h"

namespace rooftile {

namespace checked {
testing_sm90a::BulkKernels bulk_test_kernels();
testing_sm90a::ClusterKernels cluster_test_kernels();
testing_sm90a::LookAheadKernels look_ahead_test_kernels();
testing_sm90a::RowKernels row_test_kernels();
testing_sm90a::TmaKernels tma_test_kernels();
}  // namespace checked

namespace testing_sm90a {

void set_lane_order(const std::string& order) {
  const auto kind = order == "forward"    ? simt::LaneOrder::forward
                    : order == "reversed" ? simt::LaneOrder::reversed
                                          : simt::LaneOrder::random;
  ASSERT_TRUE(is_ok(simt::set_executor_config({.order = kind, .seed = 7})));
}

INSTANTIATE_TEST_SUITE_P(Watched, Sm90aBulk, ::testing::ValuesIn(sim_targets(checked::bulk_test_kernels())),
                         target_name<BulkKernels>);
INSTANTIATE_TEST_SUITE_P(Watched, Sm90aCluster,
                         ::testing::ValuesIn(sim_targets(checked::cluster_test_kernels())),
                         target_name<ClusterKernels>);
INSTANTIATE_TEST_SUITE_P(Watched, Sm90aLookAhead,
                         ::testing::ValuesIn(sim_targets(checked::look_ahead_test_kernels())),
                         target_name<LookAheadKernels>);
INSTANTIATE_TEST_SUITE_P(Watched, Sm90aRows, ::testing::ValuesIn(sim_targets(checked::row_test_kernels())),
                         target_name<RowKernels>);
INSTANTIATE_TEST_SUITE_P(Watched, Sm90aTma, ::testing::ValuesIn(sim_targets(checked::tma_test_kernels())),
                         target_name<TmaKernels>);

}  // namespace testing_sm90a

namespace checked_testing {
namespace {

// A session around each of these tests. Without buffers: what they do to global memory is not looked at.
class Watch : public ::testing::EmptyTestEventListener {
 public:
  void OnTestStart(const ::testing::TestInfo& test) override {
    if (!std::string(test.test_suite_name()).starts_with("Watched/")) return;
    Result<std::unique_ptr<Session>> session = Session::start({});
    ASSERT_TRUE(is_ok(session.status()));
    session_ = std::move(session).value();
  }
  void OnTestEnd(const ::testing::TestInfo&) override {
    if (session_ == nullptr) return;
    const Report report = session_->finish();
    session_.reset();
    EXPECT_EQ(describe(report), "");
    EXPECT_TRUE(is_ok(simt::set_executor_config({})));
  }

 private:
  std::unique_ptr<Session> session_;
};

const bool kWatching = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new Watch);
  return true;
}();

TEST(CpAsync, PipelinesAreNotReported) {
  ASSERT_TRUE(kWatching);
  constexpr int kBlocks = 3;
  constexpr int kValues = 20000;
  const DeviceVector<float> in(std::size_t{kBlocks} * kValues, 1.0f);
  DeviceVector<float> sums(kBlocks);
  const Report report = watch({}, {input("in", in), output("sums", sums)}, [&] {
    return checked::block_tests::run_pipelined_sum(kStream, kBlocks, kValues, in.data(), sums.data());
  });
  EXPECT_EQ(describe(report), "");
  EXPECT_EQ(sums[kBlocks - 1], static_cast<float>(kValues));
}

}  // namespace
}  // namespace checked_testing
}  // namespace rooftile
