// Grids of any size, again and again on the same ticket; 16-bit sums at even and odd places, and what lies beside them.
#include "rooftile/core/dtype.h"
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/grid_reduce_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class GridReduce : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(GridReduce);

TEST_P(GridReduce, AnyNumberOfBlocks) {
  const DeviceArray<std::uint32_t> g_ticket = upload(std::vector<std::uint32_t>{0});
  const DeviceArray<std::uint32_t> g_finishers = upload(std::vector<std::uint32_t>{0});
  std::uint32_t runs = 0;
  for (const int blocks : {1, 2, 31, 32, 33, 255, 256, 257, 600}) {
    const auto threads = static_cast<std::size_t>(blocks) * kGridReduceThreads;
    std::vector<float> in(threads);
    double sum = 0;
    for (std::size_t i = 0; i < threads; ++i) {
      in[i] = static_cast<float>(i % 7);
      sum += in[i];
    }
    const DeviceArray<float> g_in = upload(in);
    const DeviceArray<float> g_partials = poisoned<float>(static_cast<std::size_t>(blocks));
    const DeviceArray<float> g_out = poisoned<float>(1);
    ASSERT_TRUE(is_ok(run_grid_reduce(stream(), blocks, g_in.data(), g_partials.data(), g_ticket.data(),
                                      g_out.data(), g_finishers.data())));
    EXPECT_EQ(g_out.read()[0], sum) << blocks << " blocks";
    EXPECT_EQ(g_ticket.read()[0], 0u);
    EXPECT_EQ(g_finishers.read()[0], ++runs);
  }
}

// Elements that get nothing keep their bits, a negative zero among them; so do those around the array.
TEST_P(GridReduce, FastAtomicAddTouchesNoNeighbour) {
  for (const bool bfloat : {false, true}) {
    const auto bits = [&](double x) { return bfloat ? to_bfloat16(x).bits : to_float16(x).bits; };
    const std::uint16_t minus_zero = bits(-0.0);
    for (const std::size_t from : {std::size_t{2}, std::size_t{3}}) {
      for (const std::size_t length : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
        constexpr std::size_t kThreads = 100;
        const std::vector<std::uint16_t> values(kThreads, bits(0.5));
        std::vector<std::uint16_t> sums(10, minus_zero);
        const DeviceArray<std::uint16_t> g_values = upload(values);
        const DeviceArray<std::uint16_t> g_sums = upload(sums);
        ASSERT_TRUE(is_ok(run_fast_atomic_add(stream(), bfloat, kThreads, g_values.data(),
                                              g_sums.data() + from, static_cast<std::int64_t>(length))));
        for (std::size_t i = 0; i < length; ++i) {
          const std::size_t times = (kThreads - i + length - 1) / length;
          sums[from + i] = bits(0.5 * static_cast<double>(times));
        }
        EXPECT_EQ(g_sums.read(), sums) << "bfloat " << bfloat << ", " << length << " from " << from;
        // Only the first gets something: its neighbour is still a negative zero.
        const DeviceArray<std::uint16_t> g_again = upload(std::vector<std::uint16_t>(10, minus_zero));
        ASSERT_TRUE(is_ok(run_fast_atomic_add(stream(), bfloat, 1, g_values.data(), g_again.data() + from,
                                              static_cast<std::int64_t>(length))));
        std::vector<std::uint16_t> one(10, minus_zero);
        one[from] = bits(0.5);
        EXPECT_EQ(g_again.read(), one);
      }
    }
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
