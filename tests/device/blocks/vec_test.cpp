// Every width with every load and store policy; what a misaligned address says.
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/vec_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class VectorAccess : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(VectorAccess);

TEST_P(VectorAccess, EveryWidthAndPolicy) {
  constexpr std::int64_t kAccesses = 1000;
  constexpr std::size_t kGuard = 16;
  for (const int bytes : {1, 2, 4, 8, 16}) {
    const auto used = static_cast<std::size_t>(kAccesses * bytes);
    const std::vector<std::uint8_t> in = random_values<std::uint8_t>(used, 3);
    const DeviceArray<std::uint8_t> g_in = upload(in);
    for (int load = 0; load < 4; ++load) {
      for (int store = 0; store < 3; ++store) {
        const DeviceArray<std::uint8_t> g_out = poisoned<std::uint8_t>(used + kGuard);
        ASSERT_TRUE(is_ok(run_vec_copy(stream(), bytes, load, store, g_in.data(), g_out.data(), kAccesses)));
        std::vector<std::uint8_t> expected = in;
        expected.resize(used + kGuard, 0xab);
        ASSERT_EQ(g_out.read(), expected) << bytes << " bytes, load " << load << ", store " << store;
      }
    }
  }
}

TEST_P(VectorAccess, Elements) {
  constexpr std::size_t kVectors = 50;
  std::vector<float> in(kVectors * 8);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) + 0.25f;
  const DeviceArray<float> g_in = upload(in);
  const DeviceArray<float> g_out = poisoned<float>(in.size());
  ASSERT_TRUE(is_ok(run_vec_elements(stream(), g_in.data(), g_out.data(), kVectors)));
  const std::vector<float> out = g_out.read();
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], 2.0f * in[i]) << i;
}

TEST_P(VectorAccess, ElementsToAlignment) {
  const DeviceArray<std::uint16_t> g_in = poisoned<std::uint16_t>(16);
  for (const std::int64_t n : {0, 3, 100}) {
    const DeviceArray<std::int64_t> g_out = poisoned<std::int64_t>(16);
    ASSERT_TRUE(is_ok(run_alignment(stream(), g_in.data(), n, g_out.data())));
    const std::vector<std::int64_t> out = g_out.read();
    for (std::int64_t i = 0; i < 16; ++i) {
      const std::int64_t head = (8 - i % 8) % 8;
      EXPECT_EQ(out[static_cast<std::size_t>(i)], head < n ? head : n) << i << " of " << n;
    }
  }
}

TEST_P(VectorAccess, AMisalignedAddressNamesTheLine) {
  if (!kOnSim) GTEST_SKIP() << "a fault would end the process's use of the GPU";
  const DeviceArray<std::uint8_t> g_in = poisoned<std::uint8_t>(64);
  const DeviceArray<std::uint8_t> g_out = poisoned<std::uint8_t>(64);
  for (const int bytes : {2, 4, 8, 16}) {
    const Status load = run_vec_copy(stream(), bytes, 3, 0, g_in.data() + 1, g_out.data(), 1);
    EXPECT_NE(load.message().find("misaligned access: a load of " + std::to_string(bytes) +
                                  " bytes at an address that is 1 bytes past a multiple of " +
                                  std::to_string(bytes) + " at vec_kernels.cu:15"),
              std::string::npos)
        << load.message();
    const Status store = run_vec_copy(stream(), bytes, 0, 1, g_in.data(), g_out.data() + 1, 1);
    EXPECT_NE(store.message().find("a store of " + std::to_string(bytes) + " bytes"), std::string::npos)
        << store.message();
    EXPECT_NE(store.message().find("at vec_kernels.cu:16"), std::string::npos) << store.message();
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
