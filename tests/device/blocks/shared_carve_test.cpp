// Shared memory carved by one description on both sides.
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/shared_carve_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class SharedCarving : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(SharedCarving);

TEST_P(SharedCarving, PiecesAreAlignedAndApart) {
  for (const int stages : {1, 3, 50}) {
    const DeviceArray<std::uint32_t> g_offsets = poisoned<std::uint32_t>(kCarvedPieces + 1);
    const DeviceArray<std::uint32_t> g_wrong = poisoned<std::uint32_t>(1);
    ASSERT_TRUE(is_ok(run_carve(stream(), stages, 0, g_offsets.data(), g_wrong.data())));
    const auto n = static_cast<std::uint32_t>(stages);
    const std::uint32_t full = 128 + n * 400;  // 400 is a multiple of 16
    const std::uint32_t swizzled = (full + 16 + 1023) / 1024 * 1024;
    EXPECT_EQ(g_offsets.read(), (std::vector<std::uint32_t>{0, 128, full, swizzled, swizzled + n * 128}));
    EXPECT_EQ(carved_bytes(stages), swizzled + n * 128);
    EXPECT_EQ(g_wrong.read()[0], 0u);
  }
}

TEST_P(SharedCarving, MoreThanTheLaunchGaveNamesTheLine) {
  if (!kOnSim) GTEST_SKIP() << "a fault would end the process's use of the GPU";
  const DeviceArray<std::uint32_t> g_offsets = poisoned<std::uint32_t>(kCarvedPieces + 1);
  const DeviceArray<std::uint32_t> g_wrong = poisoned<std::uint32_t>(1);
  const Status status = run_carve(stream(), 1, 16, g_offsets.data(), g_wrong.data());
  EXPECT_NE(status.message().find("shared memory is carved up to byte 1152, but the launch gave 1136"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("at shared_carve_kernels.cu:"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
