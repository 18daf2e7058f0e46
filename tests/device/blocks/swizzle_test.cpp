// The swizzles on the device; sim_swizzle_test.cpp counts their bank conflicts.
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/swizzle_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class Swizzle : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(Swizzle);

TEST_P(Swizzle, BytesAsTheHardwareDefinesThem) {
  const DeviceArray<std::uint32_t> g_out = poisoned<std::uint32_t>(std::size_t{3} * kSwizzleOffsets);
  ASSERT_TRUE(is_ok(run_swizzle_bytes(stream(), g_out.data())));
  const std::vector<std::uint32_t> out = g_out.read();
  for (std::uint32_t offset = 0; offset < kSwizzleOffsets; ++offset) {
    const auto bit = [&](int i) { return offset >> i & 1u; };
    const std::uint32_t by32 = offset ^ bit(7) << 4;
    const std::uint32_t by64 = by32 ^ bit(8) << 5;
    const std::uint32_t by128 = by64 ^ bit(9) << 6;
    ASSERT_EQ(out[offset], by32);
    ASSERT_EQ(out[kSwizzleOffsets + offset], by64);
    ASSERT_EQ(out[2 * kSwizzleOffsets + offset], by128);
  }
}

TEST_P(Swizzle, TransposesATile) {
  const std::vector<float> in = [] {
    std::vector<float> values(std::size_t{32} * 32);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return values;
  }();
  const DeviceArray<float> g_in = upload(in);
  for (const bool swizzled : {true, false}) {
    const DeviceArray<float> g_out = poisoned<float>(in.size());
    ASSERT_TRUE(is_ok(run_tile_transpose(stream(), swizzled, g_in.data(), g_out.data())));
    const std::vector<float> out = g_out.read();
    for (std::size_t row = 0; row < 32; ++row) {
      for (std::size_t column = 0; column < 32; ++column) {
        ASSERT_EQ(out[column * 32 + row], in[row * 32 + column]) << "swizzled " << swizzled;
      }
    }
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
