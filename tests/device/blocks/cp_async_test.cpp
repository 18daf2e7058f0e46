// cp.async: every variant, zero-fill, groups; what goes wrong without a wait.
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/cp_async_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class CpAsync : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(CpAsync);

TEST_P(CpAsync, EveryVariantAndZeroFill) {
  for (const CopyVariant variant : kCopyVariants) {
    const int bytes = kCopyBytes[static_cast<int>(variant)];
    const auto total = std::size_t{kCopyThreads} * static_cast<std::size_t>(bytes);
    const std::vector<unsigned char> in = random_values<unsigned char>(total, 5);
    const DeviceArray<unsigned char> g_in = upload(in);
    for (int source_bytes = 0; source_bytes <= bytes; ++source_bytes) {
      const DeviceArray<unsigned char> g_out = poisoned<unsigned char>(total);
      ASSERT_TRUE(is_ok(run_cp_async(stream(), variant, source_bytes, g_in.data(), g_out.data())));
      const std::vector<unsigned char> out = g_out.read();
      for (std::size_t i = 0; i < total; ++i) {
        const bool copied = static_cast<int>(i) % bytes < source_bytes;
        ASSERT_EQ(out[i], copied ? in[i] : 0)
            << "variant " << static_cast<int>(variant) << ", " << source_bytes << " bytes, at " << i;
      }
    }
  }
}

TEST_P(CpAsync, Pipeline) {
  constexpr int kBlocks = 3;
  for (const int n : {4, 100, 256, 260, 512, 768, 1000, 5000}) {
    std::vector<float> in(static_cast<std::size_t>(kBlocks * n));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17);
    const DeviceArray<float> g_in = upload(in);
    const DeviceArray<float> g_out = poisoned<float>(kBlocks);
    ASSERT_TRUE(is_ok(run_pipelined_sum(stream(), kBlocks, n, g_in.data(), g_out.data())));
    const std::vector<float> out = g_out.read();
    for (std::size_t b = 0; b < kBlocks; ++b) {
      float sum = 0.0f;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) sum += in[b * n + i];
      EXPECT_EQ(out[b], sum) << "n = " << n << ", block " << b;
    }
  }
}

// On the simulated SM what is not waited for never arrives before its wait: the old 7 is there.
TEST_P(CpAsync, AWaitBringsAllGroupsButTheNewest) {
  constexpr std::size_t kLanes = 32;
  constexpr std::size_t kWords = 3 * kLanes;
  const std::vector<std::uint32_t> in = random_values<std::uint32_t>(kWords, 11);
  const DeviceArray<std::uint32_t> g_in = upload(in);
  const DeviceArray<std::uint32_t> g_out = poisoned<std::uint32_t>(4 * kWords);
  ASSERT_TRUE(is_ok(run_partial_waits(stream(), kOnSim, g_in.data(), g_out.data())));
  const std::vector<std::uint32_t> out = g_out.read();
  for (std::size_t kept = 0; kept <= 3; ++kept) {
    for (std::size_t i = 0; i < kWords; ++i) {
      const bool arrived = i / kLanes + kept < 3;
      const std::uint32_t not_arrived = kOnSim ? 7 : 0xabababab;
      EXPECT_EQ(out[kept * kWords + i], arrived ? in[i] : not_arrived) << "kept " << kept << ", at " << i;
    }
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
