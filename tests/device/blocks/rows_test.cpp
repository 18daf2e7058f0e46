// Rows in registers, wherever they begin and end; their sums; powers of 2 at the ends of their range.
#include <cmath>
#include <limits>

#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/rows_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class RegisterRows : public BlockTest {
 protected:
  static std::vector<std::uint16_t> words(std::size_t count) {
    std::vector<std::uint16_t> in(count);
    for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<std::uint16_t>(i * 40503u >> 3);
    return in;
  }

  void expect_sums(int threads, std::int64_t rows, int n, std::int64_t pitch, std::int64_t skew) {
    const std::vector<std::uint16_t> in = words(static_cast<std::size_t>(skew + rows * pitch));
    std::vector<std::uint16_t> expected(in.size(), 7);
    std::vector<std::uint16_t> in_place = in;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto first = static_cast<std::size_t>(skew + r * pitch);
      std::uint32_t sum = 0;
      for (int j = 0; j < n; ++j) sum += in[first + static_cast<std::size_t>(j)];
      for (int j = 0; j < n; ++j) {
        const std::size_t at = first + static_cast<std::size_t>(j);
        in_place[at] = expected[at] = static_cast<std::uint16_t>(in[at] + sum);
      }
    }
    const bool can_be_whole = skew % 8 == 0 && n % 8 == 0 && pitch % 8 == 0;
    for (const bool is_whole : {false, true}) {
      for (const std::int64_t window : {-1, 0, 2, 100}) {
        if (is_whole ? !can_be_whole : window >= 0) continue;
        SCOPED_TRACE(testing::Message() << threads << " threads, rows of " << n << ", skew " << skew
                                        << (is_whole ? ", whole, window " : ", ") << window);
        const DeviceArray<std::uint16_t> g_in(stream(), in);
        const DeviceArray<std::uint16_t> g_out(stream(), std::vector<std::uint16_t>(in.size(), 7));
        const auto run = [&](std::uint16_t* g_target) {
          return is_ok(run_add_sums(stream(), threads, is_whole, g_in.data() + skew, rows, n, pitch, window,
                                    g_target + skew));
        };
        ASSERT_TRUE(run(g_out.data()));
        EXPECT_EQ(g_out.read(), expected);
        ASSERT_TRUE(run(g_in.data()));
        EXPECT_EQ(g_in.read(), in_place) << "in place";
      }
    }
  }
};
ROOFTILE_ON_EVERY_ORDER(RegisterRows);

TEST_P(RegisterRows, EveryLengthOfAThread) {
  for (std::int64_t skew = 0; skew < 8; ++skew) {
    for (int n = 0; n <= 9; ++n) expect_sums(1, 5, n, n + skew % 3, skew);
  }
}
TEST_P(RegisterRows, FullAndNearlyFull) {
  for (const int threads : {1, 8, 32, 64, 96}) {
    const int full = threads * 16;
    expect_sums(threads, 5, full, full, 0);
    expect_sums(threads, 5, full - 1, full + 8, 0);
    expect_sums(threads, 5, full - 8, full, 0);
    for (const std::int64_t skew : {1, 7}) expect_sums(threads, 3, full - 7, full + 1, skew);
  }
}
TEST_P(RegisterRows, PartsOfBlocks) {
  for (const int n : {0, 5, 300, 801}) {
    for (const std::int64_t skew : {0, 3}) {
      const std::vector<std::uint16_t> in = words(static_cast<std::size_t>(skew + n));
      std::vector<std::uint16_t> expected = in;
      for (std::size_t i = static_cast<std::size_t>(skew); i < in.size(); ++i)
        expected[i] = static_cast<std::uint16_t>(in[i] + 9);
      const DeviceArray<std::uint16_t> g_in(stream(), in);
      ASSERT_TRUE(is_ok(run_add_by_parts(stream(), g_in.data() + skew, n, 51, 9, g_in.data() + skew)));
      EXPECT_EQ(g_in.read(), expected) << n << " " << skew;
    }
  }
}

TEST_P(RegisterRows, PowersOfTwo) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0,    -1,   0.5f,     -0.3f,
                                -126, -127, -1e30f,   -infinity,
                                127,  128,  infinity, std::numeric_limits<float>::quiet_NaN()};
  const DeviceArray<float> g_x(stream(), x);
  const DeviceArray<float> g_y = poisoned<float>(x.size());
  ASSERT_TRUE(is_ok(run_exp2(stream(), g_x.data(), static_cast<int>(x.size()), g_y.data())));
  const std::vector<float> y = g_y.read();
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double power = x[i] < -126 ? 0.0 : std::exp2(static_cast<double>(x[i]));
    if (std::isinf(power) || x[i] >= 128) {
      EXPECT_EQ(y[i], infinity) << x[i];
    } else {
      EXPECT_NEAR(y[i], power, power * 0x1p-22) << x[i];
    }
  }
  EXPECT_TRUE(std::isnan(y.back()));
}

TEST_P(RegisterRows, Reciprocals) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {
      1,      -1,       3,         7.5f,     -0.3f,     1e30f, 0x1p126f,
      1e-30f, infinity, -infinity, 0x1p127f, -0x1p127f, 0,     std::numeric_limits<float>::quiet_NaN()};
  const DeviceArray<float> g_x(stream(), x);
  const DeviceArray<float> g_y = poisoned<float>(x.size());
  ASSERT_TRUE(is_ok(run_reciprocal(stream(), g_x.data(), static_cast<int>(x.size()), g_y.data())));
  const std::vector<float> y = g_y.read();
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double exact = 1 / static_cast<double>(x[i]);
    if (std::isinf(exact))
      EXPECT_EQ(y[i], infinity) << x[i];
    else if (std::abs(exact) < 0x1p-126)
      EXPECT_EQ(y[i], 0) << x[i];
    else
      EXPECT_NEAR(y[i], exact, std::abs(exact) * 0x1p-23) << x[i];
  }
  EXPECT_TRUE(std::isnan(y.back()));
}

TEST_P(RegisterRows, Tanh) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = {0, 1e-6f, -20, 20, -1e30f, 1e30f, -infinity, infinity};
  for (float each = -6; each < 6; each += 0.01f) x.push_back(each);
  x.push_back(std::numeric_limits<float>::quiet_NaN());
  const DeviceArray<float> g_x(stream(), x);
  const DeviceArray<float> g_y = poisoned<float>(x.size());
  ASSERT_TRUE(is_ok(run_tanh(stream(), g_x.data(), static_cast<int>(x.size()), g_y.data())));
  const std::vector<float> y = g_y.read();
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double exact = std::tanh(static_cast<double>(x[i]));
    const double off = std::abs(x[i]) >= 20 ? 0.0 : std::abs(exact) * 0x1p-11;
    EXPECT_NEAR(y[i], exact, off + 0x1p-24 * std::abs(exact)) << x[i];
  }
  EXPECT_TRUE(std::isnan(y.back()));
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
