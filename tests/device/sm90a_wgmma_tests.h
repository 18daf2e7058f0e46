// wgmma against plain loops in double. Included by one test program per target.
#pragma once

#include <cstring>
#include <optional>
#include <random>

#include "rooftile/core/dtype.h"
#include "tests/device/sm90a_testing.h"
#include "tests/device/sm90a_wgmma.h"

namespace rooftile::testing_sm90a {

class Sm90aWgmma : public ::testing::TestWithParam<Target<WgmmaKernels>> {
 protected:
  void SetUp() override { start(GetParam(), context_); }
  std::optional<Context> context_;
};

inline constexpr std::size_t kWgmmaDepth = 16;

inline std::uint16_t float16_bits(bool bfloat, double value) {
  return bfloat ? to_bfloat16(value).bits : to_float16(value).bits;
}

// The byte of element (row of m or n, k), by PTX's figures of the canonical layouts: cores of 8 x 16 bytes, and the
// swizzle as TMA does it.
inline std::size_t place_in_operand(const OperandLayout& layout, std::size_t row, std::size_t k) {
  const auto span = static_cast<std::size_t>(layout.swizzle);
  std::size_t byte = 0;
  if (!layout.mn_major && span == 0) {
    byte = row / 8 * layout.stride_bytes + k / 8 * layout.leading_bytes + row % 8 * 16 + k % 8 * 2;
  } else if (!layout.mn_major) {
    byte = row / 8 * layout.stride_bytes + row % 8 * span + k * 2;
  } else if (span == 0) {
    byte = row / 8 * layout.stride_bytes + k / 8 * layout.leading_bytes + k % 8 * 16 + row % 8 * 2;
  } else {
    const std::size_t elements = span / 2;
    byte = row / elements * layout.leading_bytes + k / 8 * layout.stride_bytes + k % 8 * span +
           row % elements * 2;
  }
  // As PTX's table of swizzling modes: 16-byte chunk bits XORed with the bits from 7 on.
  const std::size_t chunks = span == 0 ? 1 : span / 16;
  return byte ^ (byte / 128 % chunks) * 16;
}

struct WgmmaCase {
  WgmmaForm form;
  std::vector<double> a;  // 64 x 16, row by row
  std::vector<double> b;  // n x 16: b transposed
  std::vector<double> c;  // 64 x n

  explicit WgmmaCase(const WgmmaForm& of, std::uint32_t seed)
      : form(of), a(64 * kWgmmaDepth), b(n() * kWgmmaDepth), c(64 * n()) {
    std::mt19937 random(seed);
    const auto draw = [&] { return static_cast<double>(random() % 33) - 16; };
    for (double& value : a) value = draw();
    for (double& value : b) value = draw();
    for (double& value : c) value = 64 * draw();
  }
  [[nodiscard]] std::size_t n() const { return static_cast<std::size_t>(form.n); }
  [[nodiscard]] std::vector<std::byte> images() const {
    std::vector<std::byte> bytes(2 * kWgmmaImageBytes, std::byte{0x7e});  // NaNs where no element lies
    const auto put = [&](const OperandLayout& layout, const std::vector<double>& values, std::size_t image) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t bits = float16_bits(form.bfloat, values[i]);
        const std::size_t place = place_in_operand(layout, i / kWgmmaDepth, i % kWgmmaDepth);
        ASSERT_LE(place + 2, kWgmmaImageBytes);
        std::memcpy(bytes.data() + image + place, &bits, sizeof bits);
      }
    };
    if (!form.a_in_registers) put(form.a, a, 0);
    put(form.b, b, kWgmmaImageBytes);
    return bytes;
  }
  [[nodiscard]] std::vector<std::uint32_t> a_registers() const {
    std::vector<std::uint32_t> registers;
    for (std::size_t t = 0; t < 128; ++t) {
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t row = t / 32 * 16 + t % 32 / 4 + i % 2 * 8;
        const std::size_t k = t % 4 * 2 + i / 2 * 8;
        const std::uint32_t low = float16_bits(form.bfloat, a[row * kWgmmaDepth + k]);
        const std::uint32_t high = float16_bits(form.bfloat, a[row * kWgmmaDepth + k + 1]);
        registers.push_back(low | high << 16);
      }
    }
    return registers;
  }
  // Which element of d is sum i of thread t.
  [[nodiscard]] std::size_t sum_at(std::size_t t, std::size_t i) const {
    const std::size_t row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8;
    return row * n() + i / 4 * 8 + t % 4 * 2 + i % 2;
  }
  [[nodiscard]] double expected(std::size_t at) const {
    double sum = form.accumulate ? c[at] : 0;
    for (std::size_t k = 0; k < kWgmmaDepth; ++k) {
      sum += a[at / n() * kWgmmaDepth + k] * b[at % n() * kWgmmaDepth + k];
    }
    return sum;
  }
  void expect_exact(const Context& context, const WgmmaKernels& kernels) const {
    const DeviceArray<std::byte> g_images(context, images());
    const DeviceArray<std::uint32_t> g_a(context, a_registers());
    std::vector<float> sums(128 * n() / 2);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = static_cast<float>(c[sum_at(i / (n() / 2), i % (n() / 2))]);
    }
    const DeviceArray<float> g_d(context, sums);
    ASSERT_TRUE(is_ok(kernels.product(context.stream(), form, g_images.data(), g_a.data(), g_d.data())));
    const std::vector<float> d = g_d.read();
    for (std::size_t i = 0; i < d.size(); ++i) {
      const std::size_t at = sum_at(i / (n() / 2), i % (n() / 2));
      ASSERT_EQ(d[i], expected(at)) << "row " << at / n() << ", column " << at % n();
    }
  }
};

// The tightest layout for so many rows, and one with gaps.
inline OperandLayout layout_of(bool mn_major, TileSwizzle swizzle, std::size_t rows, bool has_gaps) {
  const auto span = static_cast<std::uint32_t>(swizzle);
  const std::uint32_t gap = has_gaps ? span * 8 : 0;  // a pattern of the swizzle
  OperandLayout layout{.mn_major = mn_major, .swizzle = swizzle};
  if (span == 0) {
    // Cores side by side along k, then the next rows; or all rows' cores first, and then the next along k.
    layout.leading_bytes = has_gaps ? static_cast<std::uint32_t>(rows) / 8 * 144 : 128;
    layout.stride_bytes = has_gaps ? 144 : 256;
  } else if (!mn_major) {
    layout.leading_bytes = 16;
    layout.stride_bytes = 8 * span * (has_gaps && rows <= 128 ? 2 : 1);
  } else {
    layout.stride_bytes = 8 * span + gap;
    layout.leading_bytes = 2 * layout.stride_bytes + gap;
  }
  return layout;
}

// Each field by itself, by PTX's table.
TEST_P(Sm90aWgmma, DescriptorsHaveTheirBits) {
  const auto bits = [&](std::uint32_t start, std::uint32_t leading, std::uint32_t stride,
                        TileSwizzle swizzle) {
    return GetParam().kernels.descriptor_bits(
        start, {.swizzle = swizzle, .leading_bytes = leading, .stride_bytes = stride});
  };
  constexpr std::uint32_t kMost = 0x3fff0;
  EXPECT_EQ(bits(0, 0, 0, TileSwizzle::none), 0u);
  EXPECT_EQ(bits(0x10, 0, 0, TileSwizzle::none), 1u);
  EXPECT_EQ(bits(kMost, 0, 0, TileSwizzle::none), 0x3fffu);
  EXPECT_EQ(bits(0x01000010, 0, 0, TileSwizzle::none), 1u) << "of the address 18 bits alone";
  EXPECT_EQ(bits(0, 0x10, 0, TileSwizzle::none), 0x10000u);
  EXPECT_EQ(bits(0, kMost, 0, TileSwizzle::none), 0x3fff0000u);
  EXPECT_EQ(bits(0, 0, 0x10, TileSwizzle::none), 0x100000000u);
  EXPECT_EQ(bits(0, 0, kMost, TileSwizzle::none), 0x3fff00000000u);
  EXPECT_EQ(bits(0, 0, 0, TileSwizzle::bytes128), std::uint64_t{1} << 62);
  EXPECT_EQ(bits(0, 0, 0, TileSwizzle::bytes64), std::uint64_t{2} << 62);
  EXPECT_EQ(bits(0, 0, 0, TileSwizzle::bytes32), std::uint64_t{3} << 62);
}

TEST_P(Sm90aWgmma, EveryWidth) {
  for (int n = 8; n <= 256; n += 8) {
    for (const bool a_in_registers : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "n = " << n << (a_in_registers ? ", a in registers" : ""));
      WgmmaForm form;
      form.n = n;
      form.a_in_registers = a_in_registers;
      form.accumulate = n % 16 == 0;
      form.b = layout_of(false, n <= 128 ? TileSwizzle::bytes128 : TileSwizzle::bytes64,
                         static_cast<std::size_t>(n), false);
      WgmmaCase(form, static_cast<std::uint32_t>(n)).expect_exact(*context_, GetParam().kernels);
    }
  }
}

TEST_P(Sm90aWgmma, EveryLayout) {
  constexpr TileSwizzle kSwizzles[] = {TileSwizzle::none, TileSwizzle::bytes32, TileSwizzle::bytes64,
                                       TileSwizzle::bytes128};
  std::uint32_t seed = 0;
  for (const bool bfloat : {false, true}) {
    for (const int n : {16, 64, 192}) {
      for (const bool a_in_registers : {false, true}) {
        for (const bool a_mn_major : {false, true}) {
          for (const bool b_mn_major : {false, true}) {
            for (const TileSwizzle swizzle : kSwizzles) {
              for (const bool has_gaps : {false, true}) {
                const TileSwizzle other = kSwizzles[seed % 4];
                WgmmaForm form{.bfloat = bfloat,
                               .n = n,
                               .a_in_registers = a_in_registers,
                               .accumulate = seed % 3 != 0,
                               .a = layout_of(a_mn_major, other, 64, has_gaps),
                               .b = layout_of(b_mn_major, swizzle, static_cast<std::size_t>(n), has_gaps)};
                ++seed;
                if (!has_form(form)) continue;
                SCOPED_TRACE(::testing::Message()
                             << (bfloat ? "bf16" : "f16") << ", n = " << n << ", a "
                             << (a_in_registers ? "in registers"
                                 : a_mn_major   ? "M-major"
                                                : "K-major")
                             << " swizzle " << static_cast<int>(other) << ", b "
                             << (b_mn_major ? "N-major" : "K-major") << " swizzle "
                             << static_cast<int>(swizzle) << (has_gaps ? ", with gaps" : ""));
                WgmmaCase(form, seed).expect_exact(*context_, GetParam().kernels);
              }
            }
          }
        }
      }
    }
  }
}

TEST_P(Sm90aWgmma, TilesThatTmaLoads) {
  constexpr std::int64_t kBlocks = 2;
  constexpr std::int64_t kM = kBlocks * kTilesRows;
  constexpr std::int64_t kN = kTilesColumns;
  for (const int tiles : {1, 2, 5}) {
    const std::int64_t depth = tiles * std::int64_t{kTilesDepth};
    for (const bool a_mn_major : {false, true}) {
      for (const bool b_mn_major : {false, true}) {
        SCOPED_TRACE(::testing::Message() << tiles << " tiles" << (a_mn_major ? ", a M-major" : "")
                                          << (b_mn_major ? ", b N-major" : ""));
        std::mt19937 random(static_cast<std::uint32_t>(tiles));
        // Row by row: a as m x k or k x m, b as n x k or k x n.
        std::vector<std::uint16_t> a(static_cast<std::size_t>(kM * depth));
        std::vector<std::uint16_t> b(static_cast<std::size_t>(kN * depth));
        for (auto* values : {&a, &b}) {
          for (std::uint16_t& value : *values)
            value = float16_bits(false, static_cast<double>(random() % 9) - 4);
        }
        const DeviceArray<std::uint16_t> g_a(*context_, a);
        const DeviceArray<std::uint16_t> g_b(*context_, b);
        const DeviceArray<float> g_out(*context_, std::vector<float>(static_cast<std::size_t>(kM * kN)));
        const auto map = [&](void* data, bool mn_major, std::int64_t rows) {
          TensorMapSpec spec{.data = data, .dtype = DType::f16, .rank = 2, .swizzle = TileSwizzle::bytes128};
          spec.extents = {mn_major ? rows : depth, mn_major ? depth : rows};
          spec.strides = {1, mn_major ? rows : depth};
          spec.box = {64, 64};
          return spec;
        };
        ASSERT_TRUE(is_ok(GetParam().kernels.tiles(
            context_->stream(), a_mn_major, b_mn_major, map(g_a.data(), a_mn_major, kM),
            map(g_b.data(), b_mn_major, kN), kBlocks, tiles, g_out.data())));
        const std::vector<float> out = g_out.read();
        const auto value = [](const std::vector<std::uint16_t>& of, bool mn_major, std::int64_t rows,
                              std::int64_t columns, std::int64_t row, std::int64_t k) {
          const std::int64_t at = mn_major ? k * rows + row : row * columns + k;
          return static_cast<double>(to_float(Float16{of[static_cast<std::size_t>(at)]}));
        };
        for (std::int64_t row = 0; row < kM; ++row) {
          for (std::int64_t column = 0; column < kN; ++column) {
            double sum = 0;
            for (std::int64_t k = 0; k < depth; ++k) {
              sum += value(a, a_mn_major, kM, depth, row, k) * value(b, b_mn_major, kN, depth, column, k);
            }
            ASSERT_EQ(out[static_cast<std::size_t>(row * kN + column)], sum) << row << ", " << column;
          }
        }
      }
    }
  }
}

}  // namespace rooftile::testing_sm90a
