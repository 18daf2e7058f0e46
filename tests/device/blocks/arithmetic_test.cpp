// Invariant division at its edges, Philox on the device, and grid-stride loops.
#include <limits>

#include "rooftile/core/philox.h"
#include "tests/device/blocks/arithmetic_kernels.h"
#include "tests/device/blocks/block_testing.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class Arithmetic : public BlockTest {
 protected:
  template <class UInt>
  void expect_division() {
    constexpr UInt kMax = std::numeric_limits<UInt>::max();
    constexpr int kBits = std::numeric_limits<UInt>::digits;
    std::mt19937_64 random(41);
    std::vector<UInt> divisors;
    for (UInt d = 1; d <= 40; ++d) divisors.push_back(d);
    for (int bit = 5; bit < kBits; ++bit) {
      const auto power = static_cast<UInt>(UInt{1} << bit);
      divisors.insert(divisors.end(), {static_cast<UInt>(power - 1), power, static_cast<UInt>(power + 1)});
    }
    for (UInt back = 0; back < 3; ++back) divisors.push_back(static_cast<UInt>(kMax - back));
    divisors.insert(divisors.end(), {kMax / 2, kMax / 2 + 1, kMax / 3, 641, 6700417, 1000003});
    for (int i = 0; i < 50; ++i) divisors.push_back(static_cast<UInt>((random() >> (random() % kBits)) | 1));

    for (const UInt divisor : divisors) {
      // Where the quotient steps: around multiples of the divisor, small, middle and the largest.
      std::vector<UInt> dividends = {0, 1, kMax, static_cast<UInt>(kMax - 1), kMax / 2, kMax / 2 + 1};
      const UInt largest = kMax / divisor;
      for (const UInt k : {UInt{1}, UInt{2}, UInt{3}, static_cast<UInt>(largest / 2), largest}) {
        if (k > largest) continue;
        const auto multiple = static_cast<UInt>(k * divisor);
        dividends.insert(dividends.end(),
                         {static_cast<UInt>(multiple - 1), multiple, static_cast<UInt>(multiple + 1)});
      }
      for (int i = 0; i < 100; ++i) {
        const auto k = static_cast<UInt>(random() % (static_cast<std::uint64_t>(largest) + (largest < kMax)));
        dividends.push_back(static_cast<UInt>(k * divisor));
        dividends.push_back(static_cast<UInt>(k * divisor - 1));
        dividends.push_back(static_cast<UInt>(random() >> (random() % kBits)));
      }
      const auto n = static_cast<std::int64_t>(dividends.size());
      const DeviceArray<UInt> g_dividends = upload(dividends);
      const DeviceArray<UInt> g_quotients = poisoned<UInt>(dividends.size());
      const DeviceArray<UInt> g_remainders = poisoned<UInt>(dividends.size());
      ASSERT_TRUE(is_ok(run_divide<UInt>(stream(), divisor, n, g_dividends.data(), g_quotients.data(),
                                         g_remainders.data())));
      const std::vector<UInt> quotients = g_quotients.read();
      const std::vector<UInt> remainders = g_remainders.read();
      for (std::size_t i = 0; i < dividends.size(); ++i) {
        ASSERT_EQ(quotients[i], dividends[i] / divisor) << dividends[i] << " / " << divisor;
        ASSERT_EQ(remainders[i], dividends[i] % divisor) << dividends[i] << " % " << divisor;
      }
    }
  }
};
ROOFTILE_ON_EVERY_ORDER(Arithmetic);

TEST_P(Arithmetic, DividesIn32Bits) { expect_division<std::uint32_t>(); }
TEST_P(Arithmetic, DividesIn64Bits) { expect_division<std::uint64_t>(); }

TEST_P(Arithmetic, PhiloxIsTheHostsOwn) {
  constexpr int kCount = 1000;
  constexpr std::size_t kWords = 4000;                              // four of each
  constexpr std::uint64_t kFirst = (std::uint64_t{1} << 32) - 500;  // the counter's first word overflows
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x123456789abcdef0}}) {
    const DeviceArray<std::uint32_t> g_words = poisoned<std::uint32_t>(kWords);
    const DeviceArray<float> g_floats = poisoned<float>(kWords);
    ASSERT_TRUE(is_ok(run_philox(stream(), seed, kFirst, 9, kCount, g_words.data(), g_floats.data())));
    const std::vector<std::uint32_t> words = g_words.read();
    const std::vector<float> floats = g_floats.read();
    for (std::size_t i = 0; i < kCount; ++i) {
      const PhiloxCounter host = philox4x32_10(philox_counter(kFirst + i, 9), philox_key(seed));
      const std::uint32_t expected[] = {host.x, host.y, host.z, host.w};
      for (std::size_t w = 0; w < 4; ++w) {
        ASSERT_EQ(words[4 * i + w], expected[w]) << i;
        ASSERT_EQ(floats[4 * i + w], philox_unit_float(expected[w])) << i;
      }
    }
  }
}

TEST_P(Arithmetic, GridStrideTouchesEveryItemOnce) {
  for (const std::int64_t n : {0, 1, 31, 64, 65, 1000}) {
    for (const int blocks : {1, 2, 50}) {
      const auto count = static_cast<std::size_t>(n);
      const DeviceArray<std::uint32_t> g_counts = upload(std::vector<std::uint32_t>(count, 0));
      const DeviceArray<std::uint32_t> g_threads = poisoned<std::uint32_t>(count);
      ASSERT_TRUE(is_ok(run_grid_stride(stream(), blocks, n, g_counts.data(), g_threads.data())));
      EXPECT_EQ(g_counts.read(), std::vector<std::uint32_t>(count, 1)) << n << " with " << blocks;
      const std::vector<std::uint32_t> threads = g_threads.read();
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_EQ(threads[i], i % (32 * static_cast<std::size_t>(blocks)));
    }
  }
}

TEST_P(Arithmetic, GridBlocks) {
  EXPECT_EQ(grid_blocks_of(0, 128, 100), 1u);
  EXPECT_EQ(grid_blocks_of(1, 128, 100), 1u);
  EXPECT_EQ(grid_blocks_of(128, 128, 100), 1u);
  EXPECT_EQ(grid_blocks_of(129, 128, 100), 2u);
  EXPECT_EQ(grid_blocks_of(std::int64_t{1} << 40, 128, 100), 100u);
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
