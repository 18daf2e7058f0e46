// Hand-overs through memory in every scope, and the block that finishes last.
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/poll_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

constexpr int kScopes = 4;
constexpr int kGpuScope = 2;

class Polling : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(Polling);

TEST_P(Polling, HandsOverWithinABlock) {
  const std::vector<std::uint32_t> in = random_values<std::uint32_t>(8, 23);
  const DeviceArray<std::uint32_t> g_in = upload(in);
  for (int scope = 0; scope < kScopes; ++scope) {
    for (const int flag_bytes : {4, 8}) {
      const DeviceArray<std::uint32_t> g_data = poisoned<std::uint32_t>(1);
      const DeviceArray<std::uint64_t> g_flags = upload(std::vector<std::uint64_t>(2, 0));
      const DeviceArray<std::uint32_t> g_out = poisoned<std::uint32_t>(8);
      ASSERT_TRUE(is_ok(run_handover(stream(), scope, flag_bytes, g_in.data(), g_data.data(), g_flags.data(),
                                     g_out.data())));
      const std::vector<std::uint32_t> out = g_out.read();
      for (std::size_t i = 0; i < 8; ++i)
        EXPECT_EQ(out[i], in[i] + 1) << "scope " << scope << ", " << flag_bytes;
    }
  }
}

TEST_P(Polling, ChainOfBlocks) {
  constexpr int kBlocks = 300;
  for (int scope = kGpuScope; scope < kScopes; ++scope) {
    const DeviceArray<std::uint32_t> g_values = poisoned<std::uint32_t>(kBlocks);
    const DeviceArray<std::uint32_t> g_flags = upload(std::vector<std::uint32_t>(kBlocks, 0));
    ASSERT_TRUE(is_ok(run_chain(stream(), scope, kBlocks, g_values.data(), g_flags.data())));
    const std::vector<std::uint32_t> values = g_values.read();
    for (std::size_t b = 0; b < kBlocks; ++b) ASSERT_EQ(values[b], b + 1);
  }
}

using LastOne = Status (*)(StreamRef, int, std::uint32_t*, std::uint32_t*, std::uint64_t*);

TEST_P(Polling, TheLastSeesAllOthers) {
  for (const LastOne run_last : {&run_last_block, &run_last_warp}) {
    for (const int blocks : {1, 2, 777}) {
      const auto count = static_cast<std::size_t>(blocks);
      const DeviceArray<std::uint32_t> g_slots = poisoned<std::uint32_t>(count);
      const DeviceArray<std::uint32_t> g_counter = upload(std::vector<std::uint32_t>{0});
      for (int run = 0; run < 2; ++run) {  // the second finds the counter at zero again
        const DeviceArray<std::uint64_t> g_sum = poisoned<std::uint64_t>(1);
        ASSERT_TRUE(is_ok(run_last(stream(), blocks, g_slots.data(), g_counter.data(), g_sum.data())));
        EXPECT_EQ(g_sum.read()[0], count * (count + 1) / 2);
      }
      EXPECT_EQ(g_counter.read()[0], 0u);
    }
  }
}

TEST_P(Polling, FetchIncGivesEveryNumberAndWraps) {
  for (int scope = 0; scope < kScopes; ++scope) {
    const int blocks = scope < kGpuScope ? 1 : 40;  // the narrow scopes are a block's own
    const auto half = static_cast<std::size_t>(blocks) * 32;
    const DeviceArray<std::uint32_t> g_counter = upload(std::vector<std::uint32_t>{0});
    const DeviceArray<std::uint32_t> g_seen = upload(std::vector<std::uint32_t>(half, 0));
    ASSERT_TRUE(is_ok(run_fetch_inc(stream(), scope, blocks, g_counter.data(), g_seen.data())));
    EXPECT_EQ(g_counter.read()[0], 0u);
    EXPECT_EQ(g_seen.read(), std::vector<std::uint32_t>(half, 2));
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
