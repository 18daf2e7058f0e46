// Vectors at every shift, and the way to the next line.
#include <algorithm>

#include "tests/device/blocks/align_kernels.h"
#include "tests/device/blocks/block_testing.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class Alignment : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(Alignment);

TEST_P(Alignment, VectorsStraddleAtEveryShift) {
  constexpr std::size_t kVectors = 100;
  const std::vector<std::uint8_t> in = random_values<std::uint8_t>(16 * (kVectors + 2), 5);
  const DeviceArray<std::uint8_t> g_in = upload(in);
  for (std::size_t shift = 0; shift < 16; ++shift) {
    const DeviceArray<std::uint8_t> g_out = poisoned<std::uint8_t>(16 * kVectors);
    ASSERT_TRUE(is_ok(run_straddling(stream(), g_in.data() + 16 + shift, kVectors, g_out.data())));
    const auto first = in.begin() + static_cast<std::ptrdiff_t>(16 + shift);
    ASSERT_EQ(g_out.read(), std::vector<std::uint8_t>(first, first + 16 * kVectors)) << shift;
  }
}

TEST_P(Alignment, ElementsToLine) {
  const DeviceArray<std::uint8_t> g_in = poisoned<std::uint8_t>(256);
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(g_in.data()) % 128);
  for (const std::int64_t n : {0, 3, 1000}) {
    const DeviceArray<std::int64_t> g_out = poisoned<std::int64_t>(256);
    ASSERT_TRUE(is_ok(run_to_line(stream(), g_in.data(), n, g_out.data())));
    const std::vector<std::int64_t> out = g_out.read();
    for (std::int64_t i = 0; i < 256; ++i)
      EXPECT_EQ(out[static_cast<std::size_t>(i)], std::min((128 - (past + i) % 128) % 128, n)) << i;
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
