// The simulated SM's own promises about asynchronous copies, mbarriers and clusters: a missing wait gives a
// wrong result, a misuse ends the launch with a line that says what and where.
#include <algorithm>
#include <chrono>
#include <iterator>

#include "rooftile/sim/config.h"
#include "tests/device/sm90a_misuse.h"
#include "tests/device/sm90a_testing.h"

namespace rooftile::testing_sm90a {

namespace {

void configure(const std::string& order, std::chrono::milliseconds watchdog) {
  simt::ExecutorConfig config;
  config.watchdog = watchdog;
  ASSERT_TRUE(is_ok(simt::parse_lane_order(order, config)));
  ASSERT_TRUE(is_ok(simt::set_executor_config(config)));
}

}  // namespace

void set_lane_order(const std::string& order) { configure(order, std::chrono::seconds(20)); }

namespace {

class Sm90aMisuse : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    configure(GetParam(), std::chrono::milliseconds(150));
    for (unsigned i = 0; i < kMisuseWords; ++i) in_[i] = 1000 + i;
  }
  // What arrives in g_out; the word after the copy is what the kernel read back.
  [[nodiscard]] Status run(Misuse misuse) {
    std::fill(std::begin(out_), std::end(out_), 5u);
    return sim::run_misuse({kSim, nullptr}, misuse, in_, out_);
  }
  [[nodiscard]] bool copied() const { return std::equal(std::begin(in_), std::end(in_), out_); }

  // The launch fails with all of these in its message, and the next one works.
  void expect_failure(Misuse misuse, const std::vector<std::string>& parts) {
    const Status status = run(misuse);
    ASSERT_EQ(status.code(), StatusCode::device_error) << status.message();
    for (const std::string& part : parts) {
      EXPECT_NE(status.message().find(part), std::string::npos)
          << part << "\nis not in: " << status.message();
    }
    EXPECT_NE(status.message().find("sm90a_misuse.cu:"), std::string::npos) << status.message();
    EXPECT_TRUE(is_ok(run(Misuse::none)));
    EXPECT_TRUE(copied());
  }

  alignas(16) std::uint32_t in_[kMisuseWords];
  alignas(16) std::uint32_t out_[kMisuseWords + 1];
};
INSTANTIATE_TEST_SUITE_P(Sim, Sm90aMisuse, ::testing::Values("forward", "reversed", "random:3"),
                         [](const auto& order) { return order.param.substr(0, order.param.find(':')); });

TEST_P(Sm90aMisuse, WithItsWaitsTheCopyIsRight) {
  ASSERT_TRUE(is_ok(run(Misuse::none)));
  EXPECT_TRUE(copied());
  EXPECT_EQ(out_[kMisuseWords], in_[0]);
}

TEST_P(Sm90aMisuse, ALoadReadBeforeItsWaitIsPoison) {
  ASSERT_TRUE(is_ok(run(Misuse::load_read_before_its_wait)));
  for (unsigned i = 0; i < kMisuseWords; ++i) EXPECT_EQ(out_[i], 0xffffffffu);
}

TEST_P(Sm90aMisuse, AStoresSourceOverwrittenBeforeItsWaitIsWhatArrives) {
  ASSERT_TRUE(is_ok(run(Misuse::store_source_overwritten)));
  for (unsigned i = 0; i < kMisuseWords; ++i) EXPECT_EQ(out_[i], 7u);
}

TEST_P(Sm90aMisuse, AStoreThatHasOnlyReadIsNotThereYet) {
  ASSERT_TRUE(is_ok(run(Misuse::store_read_before_it_is_written)));
  EXPECT_TRUE(copied()) << "the source was read before it was overwritten";
  EXPECT_EQ(out_[kMisuseWords], 5u) << "and the result is not there before bulk_wait";
}

TEST_P(Sm90aMisuse, ReturnsBeforeTheLoad) {
  expect_failure(
      Misuse::returns_before_the_load,
      {"block (0,0,0): bulk_load at", "the block returned before a copy that it issued was complete"});
}

TEST_P(Sm90aMisuse, ReturnsBeforeTheStore) {
  expect_failure(Misuse::returns_before_the_store,
                 {"bulk_store at", "the block returned while the copy may still read its shared memory"});
}

TEST_P(Sm90aMisuse, ExpectsTooFewBytes) {
  expect_failure(Misuse::expects_too_few_bytes,
                 {"bulk_load at", "16 bytes more have landed at the mbarrier than its phase expected"});
}

TEST_P(Sm90aMisuse, ExpectsTooManyBytes) {
  expect_failure(Misuse::expects_too_many_bytes,
                 {"livelock",
                  "64 of 64 threads wait in mbarrier_wait (phase 0: 0 of 1 arrivals and 16 bytes are "
                  "outstanding) at"});
}

TEST_P(Sm90aMisuse, Mbarriers) {
  expect_failure(Misuse::never_initialised, {"the memory holds no initialised mbarrier"});
  expect_failure(Misuse::too_many_arrivals,
                 {"4 arrivals, while the phase of this mbarrier waits for 3 of 3"});
  expect_failure(Misuse::parity_of_two, {"the parity must be 0 or 1, not 2"});
  expect_failure(Misuse::expects_more_than_it_counts, {"the mbarrier would count 1048576 bytes"});
}

TEST_P(Sm90aMisuse, Alignment) {
  expect_failure(Misuse::misaligned_bulk_source,
                 {"bulk_load: the global address must be aligned to 16 bytes, and is 4 bytes past"});
  expect_failure(Misuse::misaligned_bulk_destination,
                 {"bulk_load: the shared-memory address must be aligned to 16 bytes, and is 8 bytes past"});
  expect_failure(Misuse::odd_bulk_size, {"the size must be a positive multiple of 16 bytes, not 24"});
  expect_failure(Misuse::misaligned_store_async,
                 {"store_async: the shared-memory address must be aligned to 8 bytes, and is 4 bytes past"});
  expect_failure(Misuse::box_off_16_bytes, {"tma_load: the box must start at a multiple of 16 bytes in "
                                            "dimension 0, not at element -2 of 4 bytes"});
  expect_failure(Misuse::store_before_the_tensor,
                 {"tma_store: the box must not start before the tensor, at -1 of dimension 1"});
  expect_failure(Misuse::misaligned_tile,
                 {"tma_load: the shared-memory address must be aligned to 256 bytes, and is 16 bytes past"});
  expect_failure(Misuse::tile_off_the_swizzles_repeat,
                 {"tma_load: the shared-memory address must be aligned to 256 bytes, and is 128 bytes past"});
}

TEST_P(Sm90aMisuse, WrongMemory) {
  expect_failure(Misuse::tile_larger_than_shared_memory,
                 {"tma_load: 256 bytes from this address are not in the block's shared memory"});
  expect_failure(Misuse::not_shared_memory,
                 {"bulk_load: 256 bytes from this address are not in the block's"});
  expect_failure(Misuse::sends_past_shared_memory,
                 {"bulk_send's destination: 256 bytes from this address are not in the block's"});
  expect_failure(Misuse::coordinates_of_another_rank, {"tma_load: 3 coordinates for a tensor map of rank 2"});
}

TEST_P(Sm90aMisuse, Clusters) {
  expect_failure(Misuse::rank_outside_the_cluster, {"rank 2 is not in the cluster of 2 blocks"});
  expect_failure(Misuse::mask_outside_the_cluster, {"the mask of blocks is 4, in a cluster of 2"});
  expect_failure(Misuse::store_async_alone, {"store_async: needs a cluster of at least two blocks"});
  expect_failure(Misuse::waits_without_arriving, {"cluster_wait: this thread has not arrived"});
  expect_failure(Misuse::arrives_twice, {"cluster_arrive: this thread has arrived already"});
  expect_failure(Misuse::maps_a_block_that_returned,
                 {"block 1 of the cluster has returned, and its shared memory is gone"});
}

}  // namespace
}  // namespace rooftile::testing_sm90a
