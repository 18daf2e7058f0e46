// Warp and block collectives against plain loops, bit for bit.
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/collective_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

template <class T>
constexpr bool kCommutative = !requires(T t) {
  t.a;
};

template <class T>
T combined(const std::vector<T>& values, std::size_t begin, std::size_t end) {
  T total = identity_of<T>();
  for (std::size_t i = begin; i < end; ++i) total = Combine{}(total, values[i]);
  return total;
}

template <class T>
T expected_of(WarpCall call, const std::vector<T>& in, std::size_t i, const T& poison) {
  const std::size_t n = in.size();
  switch (call) {
    case WarpCall::shuffle_reverse:
      return in[n - 1 - i];
    case WarpCall::shuffle_xor_1:
      return in[i ^ 1];
    case WarpCall::shuffle_up_3:
      return in[i >= 3 ? i - 3 : i];
    case WarpCall::shuffle_down_3:
      return i + 3 < n ? in[i + 3] : poison;
    case WarpCall::reduce_full:
    case WarpCall::reduce:
      return combined(in, 0, n);
    case WarpCall::inclusive_scan:
      return combined(in, 0, i + 1);
    case WarpCall::exclusive_scan:
      return combined(in, 0, i);
    case WarpCall::broadcast_last:
      return in[n - 1];
  }
  return poison;
}

class Collectives : public BlockTest {
 protected:
  template <class T>
  void expect_warp(WarpCall call, int lanes) {
    const auto count = static_cast<std::size_t>(lanes);
    const std::vector<T> in = random_values<T>(count, 17);
    const DeviceArray<T> g_in = upload(in);
    const DeviceArray<T> g_out = poisoned<T>(count);
    const T poison = g_out.read()[0];
    ASSERT_TRUE(is_ok(run_warp<T>(stream(), call, lanes, g_in.data(), g_out.data())));
    const std::vector<T> out = g_out.read();
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(same_bytes(out[i], expected_of(call, in, i, poison)))
          << "call " << static_cast<int>(call) << ", " << sizeof(T) << " bytes, lane " << i << " of "
          << lanes;
    }
  }
  template <class T>
  void expect_every_warp() {
    for (const int lanes : {1, 2, 5, 16, 31, 32}) {
      for (const WarpCall call :
           {WarpCall::shuffle_reverse, WarpCall::shuffle_up_3, WarpCall::shuffle_down_3, WarpCall::reduce,
            WarpCall::inclusive_scan, WarpCall::exclusive_scan, WarpCall::broadcast_last}) {
        expect_warp<T>(call, lanes);
      }
    }
    expect_warp<T>(WarpCall::shuffle_xor_1, 32);
    if (kCommutative<T>) expect_warp<T>(WarpCall::reduce_full, 32);
  }

  template <class T>
  void expect_block(BlockCall call, int threads) {
    const auto count = static_cast<std::size_t>(threads);
    std::vector<T> in = random_values<T>(count, 29);
    const DeviceArray<T> g_in = upload(in);
    const DeviceArray<T> g_out = poisoned<T>(count);
    const DeviceArray<T> g_totals = poisoned<T>(count);
    ASSERT_TRUE(is_ok(run_block<T>(stream(), call, threads, g_in.data(), g_out.data(), g_totals.data())));
    const std::vector<T> out = g_out.read();
    const std::vector<T> totals = g_totals.read();
    std::rotate(in.begin(), in.begin() + 1, in.end());  // the second round's values
    const T total = combined(in, 0, count);
    T before = identity_of<T>();
    for (std::size_t i = 0; i < count; ++i) {
      const T with = Combine{}(before, in[i]);
      const bool scan = call == BlockCall::inclusive_scan || call == BlockCall::exclusive_scan;
      T expected = call == BlockCall::broadcast_last ? in.back() : total;
      if (scan) expected = call == BlockCall::inclusive_scan ? with : before;
      before = with;
      const std::string what = "call " + std::to_string(static_cast<int>(call)) + ", " +
                               std::to_string(sizeof(T)) + " bytes, thread " + std::to_string(i) + " of " +
                               std::to_string(threads);
      if (call != BlockCall::reduce || i == 0) {
        ASSERT_TRUE(same_bytes(out[i], expected)) << what;
      }
      if (scan) {
        ASSERT_TRUE(same_bytes(totals[i], total)) << what << ": total";
      }
    }
  }
  template <class T>
  void expect_every_block() {
    for (const int threads : kBlockSizes) {
      expect_block<T>(BlockCall::inclusive_scan, threads);
      expect_block<T>(BlockCall::exclusive_scan, threads);
      expect_block<T>(BlockCall::broadcast_last, threads);
      if (!kCommutative<T>) continue;
      expect_block<T>(BlockCall::reduce, threads);
      expect_block<T>(BlockCall::all_reduce, threads);
    }
  }
};
ROOFTILE_ON_EVERY_ORDER(Collectives);

TEST_P(Collectives, WarpOfBytes) { expect_every_warp<std::uint8_t>(); }
TEST_P(Collectives, WarpOfWords) { expect_every_warp<std::uint32_t>(); }
TEST_P(Collectives, WarpOfDoubleWords) { expect_every_warp<std::uint64_t>(); }
TEST_P(Collectives, WarpOf3Bytes) { expect_every_warp<Tiny>(); }
TEST_P(Collectives, WarpOf24Bytes) { expect_every_warp<Wide>(); }
TEST_P(Collectives, WarpNotCommutative) { expect_every_warp<Affine>(); }

TEST_P(Collectives, BlockOfBytes) { expect_every_block<std::uint8_t>(); }
TEST_P(Collectives, BlockOfWords) { expect_every_block<std::uint32_t>(); }
TEST_P(Collectives, BlockOfDoubleWords) { expect_every_block<std::uint64_t>(); }
TEST_P(Collectives, BlockOf3Bytes) { expect_every_block<Tiny>(); }
TEST_P(Collectives, BlockOf24Bytes) { expect_every_block<Wide>(); }
TEST_P(Collectives, BlockNotCommutative) { expect_every_block<Affine>(); }

// A report names the kernel's lines, not those of block.h.
TEST_P(Collectives, CalledFromTwoPlacesNamesBoth) {
  if (!kOnSim) GTEST_SKIP() << "what a GPU does is undefined";
  const DeviceArray<std::uint32_t> g_in = poisoned<std::uint32_t>(64);
  const DeviceArray<std::uint32_t> g_out = poisoned<std::uint32_t>(64);
  const Status status = run_divergent_reduce(stream(), g_in.data(), g_out.data());
  EXPECT_NE(status.message().find("divergent barrier: waits at collective_kernels.cu:"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("threads of the block wait at collective_kernels.cu:"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
