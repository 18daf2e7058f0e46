// Bulk copies and mbarriers against plain loops. Included by one test program per target.
#pragma once

#include <cmath>
#include <optional>

#include "tests/device/sm90a_bulk.h"
#include "tests/device/sm90a_testing.h"

namespace rooftile::testing_sm90a {

class Sm90aBulk : public ::testing::TestWithParam<Target<BulkKernels>> {
 protected:
  void SetUp() override { start(GetParam(), context_); }
  [[nodiscard]] const BulkKernels& kernels() const { return GetParam().kernels; }
  std::optional<Context> context_;
};

TEST_P(Sm90aBulk, LoadAndStore) {
  for (const unsigned bytes : {16u, 32u, 4080u, 100000u}) {
    SCOPED_TRACE(bytes);
    constexpr unsigned kBlocks = 5;
    const std::vector<std::byte> in = some_bytes(std::size_t{kBlocks} * bytes);
    const DeviceArray<std::byte> device_in(*context_, in);
    const DeviceArray<std::byte> out(*context_, std::vector<std::byte>(in.size()));
    ASSERT_TRUE(is_ok(kernels().copy(context_->stream(), device_in.data(), kBlocks, bytes, out.data())));
    EXPECT_TRUE(out.read() == in);
  }
}

TEST_P(Sm90aBulk, LoadOfWhatTheBlockWroteToGlobalMemory) {
  for (const unsigned bytes : {16u, 20000u, 200000u}) {
    SCOPED_TRACE(bytes);
    const std::vector<std::byte> in = some_bytes(bytes);
    const DeviceArray<std::byte> device_in(*context_, in);
    const DeviceArray<std::byte> scratch(*context_, std::vector<std::byte>(bytes));
    const DeviceArray<std::byte> out(*context_, std::vector<std::byte>(bytes));
    ASSERT_TRUE(is_ok(
        kernels().through_global(context_->stream(), device_in.data(), bytes, scratch.data(), out.data())));
    EXPECT_TRUE(out.read() == in);
  }
}

TEST_P(Sm90aBulk, RingOfBuffers) {
  for (const unsigned chunks : {1u, 3u, 4u, 5u, 100u}) {
    SCOPED_TRACE(chunks);
    constexpr unsigned kChunk = 1040;
    std::vector<std::byte> in = some_bytes(std::size_t{chunks} * kChunk);
    const DeviceArray<std::byte> device_in(*context_, in);
    const DeviceArray<std::byte> out(*context_, std::vector<std::byte>(in.size()));
    ASSERT_TRUE(
        is_ok(kernels().ring(context_->stream(), device_in.data(), chunks, kChunk, 0x3c, out.data())));
    for (std::byte& byte : in) byte ^= std::byte{0x3c};
    EXPECT_TRUE(out.read() == in);
  }
}

TEST_P(Sm90aBulk, MulticastReachesTheBlocksThatAreNamed) {
  constexpr unsigned kBytes = 256;
  const std::vector<std::byte> in = some_bytes(kBytes);
  const DeviceArray<std::byte> device_in(*context_, in);
  for (const unsigned blocks : {1u, 2u, 4u, 8u}) {
    for (unsigned mask = 1; mask < 1u << blocks; ++mask) {
      SCOPED_TRACE(std::to_string(blocks) + " blocks, mask " + std::to_string(mask));
      std::vector<std::byte> expected;
      for (unsigned rank = 0; rank < blocks; ++rank) {
        const bool named = (mask >> rank & 1u) != 0;
        for (unsigned i = 0; i < kBytes; ++i) expected.push_back(named ? in[i] : std::byte{0xee});
      }
      const DeviceArray<std::byte> out(*context_, std::vector<std::byte>(expected.size()));
      ASSERT_TRUE(
          is_ok(kernels().multicast(context_->stream(), device_in.data(), blocks, mask, kBytes, out.data())));
      EXPECT_TRUE(out.read() == expected);
    }
  }
}

// Small integers: sums of 3 blocks are exact in every type. Minima and maxima meet NaNs on either side.
TEST_P(Sm90aBulk, Reductions) {
  constexpr unsigned kCount = 96;
  constexpr unsigned kBlocks = 3;
  for (const BulkOp op : {BulkOp::add, BulkOp::min, BulkOp::max}) {
    for (const DType dtype :
         {DType::i32, DType::i64, DType::u32, DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
      if (op != BulkOp::add && (dtype == DType::f32 || dtype == DType::f64)) continue;
      SCOPED_TRACE(std::string(to_string(dtype)) + ", operation " + std::to_string(static_cast<int>(op)));
      const std::size_t element = size_of(dtype);
      std::vector<std::byte> in(kCount * element);
      std::vector<std::byte> out(kCount * element);
      std::vector<std::byte> expected(kCount * element);
      for (unsigned i = 0; i < kCount; ++i) {
        const bool has_nan = op != BulkOp::add && is_float(dtype);
        const double a = has_nan && i % 8 == 3
                             ? std::nan("")
                             : static_cast<double>(i * 31 % 41) - (is_signed(dtype) ? 20 : 0);
        const double b = has_nan && i % 8 == 5
                             ? std::nan("")
                             : static_cast<double>(i * 17 % 43) - (is_signed(dtype) ? 20 : 0);
        store_from_double(in.data() + i * element, dtype, a);
        store_from_double(out.data() + i * element, dtype, b);
        store_from_double(expected.data() + i * element, dtype,
                          op == BulkOp::add   ? b + kBlocks * a
                          : op == BulkOp::min ? std::fmin(a, b)
                                              : std::fmax(a, b));
      }
      const DeviceArray<std::byte> device_in(*context_, in);
      const DeviceArray<std::byte> device_out(*context_, out);
      ASSERT_TRUE(is_ok(kernels().reduce(context_->stream(), op, dtype, device_in.data(), kCount, kBlocks,
                                         device_out.data())));
      EXPECT_TRUE(device_out.read() == expected);
    }
  }
}

TEST_P(Sm90aBulk, PhasesOfAnMbarrier) {
  const DeviceArray<std::uint32_t> passed(*context_, std::vector<std::uint32_t>(kPhaseSteps, 9));
  ASSERT_TRUE(is_ok(kernels().phases(context_->stream(), passed.data())));
  EXPECT_EQ(passed.read(), (std::vector<std::uint32_t>{1, 0, 1, 0, 1, 0, 0, 1}));
}

TEST_P(Sm90aBulk, ArrivingThreadsAreSeenByTheWaitingOne) {
  constexpr unsigned kRounds = 50;
  const DeviceArray<std::uint32_t> sums(*context_, std::vector<std::uint32_t>(kRounds));
  ASSERT_TRUE(is_ok(kernels().arrivals(context_->stream(), kRounds, sums.data())));
  std::vector<std::uint32_t> expected;
  for (unsigned r = 0; r < kRounds; ++r) {
    expected.push_back(kArrivingThreads * (kArrivingThreads - 1) / 2 + kArrivingThreads * 100 * r);
  }
  EXPECT_EQ(sums.read(), expected);
}

}  // namespace rooftile::testing_sm90a
