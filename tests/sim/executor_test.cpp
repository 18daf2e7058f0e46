// Scheduling, memory, atomics, grid-wide waiting, and launches that are refused.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <set>
#include <thread>

#include "rooftile/core/dtype.h"
#include "tests/sim/sim_test.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;
using simt::LaneOrder;

class EveryOrderRuns : public EveryOrder {};
INSTANTIATE_TEST_SUITE_P(Sim, EveryOrderRuns, ::testing::ValuesIn(kSchedules), schedule_name);

std::vector<unsigned> first_tickets(const Schedule& schedule, std::vector<unsigned>* second = nullptr) {
  use(schedule);
  unsigned counter = 0;
  std::vector<unsigned> first(128);
  std::vector<unsigned> later(128);
  EXPECT_TRUE(is_ok(run_tickets(kStream, 2, 64, &counter, first.data(), later.data())));
  if (second != nullptr) *second = later;
  return first;
}

TEST(LaneOrders, ForwardRunsLanesUpwardsInEverySegment) {
  std::vector<unsigned> second;
  const std::vector<unsigned> first = first_tickets({"", LaneOrder::forward, 0, 1}, &second);
  for (std::size_t block = 0; block < 2; ++block) {
    for (std::size_t warp = 0; warp < 2; ++warp) {
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::size_t i = block * 64 + warp * 32 + lane;
        // A warp takes its 32 first tickets, then its 32 second ones.
        EXPECT_EQ(first[i], block * 128 + warp * 64 + lane);
        EXPECT_EQ(second[i], block * 128 + warp * 64 + 32 + lane);
      }
    }
  }
}

TEST(LaneOrders, ReversedRunsThemDownwards) {
  std::vector<unsigned> second;
  const std::vector<unsigned> first = first_tickets({"", LaneOrder::reversed, 0, 1}, &second);
  for (std::size_t block = 0; block < 2; ++block) {
    for (std::size_t warp = 0; warp < 2; ++warp) {
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::size_t i = block * 64 + warp * 32 + lane;
        EXPECT_EQ(first[i], block * 128 + (1 - warp) * 64 + 31 - lane);
        EXPECT_EQ(second[i], block * 128 + (1 - warp) * 64 + 63 - lane);
      }
    }
  }
}

TEST(LaneOrders, RandomRepeatsWithItsSeedAndDiffersWithAnother) {
  const std::vector<unsigned> a = first_tickets({"", LaneOrder::random, 5, 1});
  EXPECT_EQ(a, first_tickets({"", LaneOrder::random, 5, 1}));
  EXPECT_NE(a, first_tickets({"", LaneOrder::random, 6, 1}));
  EXPECT_FALSE(std::is_sorted(a.begin(), a.begin() + 64));
  const std::vector<unsigned> block0(a.begin(), a.begin() + 64);
  std::vector<unsigned> block1(a.begin() + 64, a.end());
  for (unsigned& ticket : block1) ticket -= 128;
  EXPECT_NE(block0, block1);
}

TEST(LaneOrders, AMissingBarrierIsWrongInOneOrder) {
  std::vector<int> in(256);
  std::iota(in.begin(), in.end(), 1);
  const int right = 256 * 257 / 2;
  int wrong_orders = 0;
  for (const Schedule& schedule : kSchedules) {
    use(schedule);
    int sum = 0;
    ASSERT_TRUE(is_ok(run_block_sum(kStream, true, 256, in.data(), &sum)));
    EXPECT_EQ(sum, right) << schedule.name;
    ASSERT_TRUE(is_ok(run_block_sum(kStream, false, 256, in.data(), &sum)));
    if (sum != right) ++wrong_orders;
    if (schedule.order == LaneOrder::forward) {
      EXPECT_NE(sum, right);
    }
  }
  EXPECT_GT(wrong_orders, 0);
}

TEST_P(EveryOrderRuns, TreeAndShuffleReduceAgree) {
  constexpr unsigned kBlocks = 20;
  std::vector<float> in(std::size_t{kBlocks} * 256);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17) - 8;  // sums are exact
  std::vector<float> tree(kBlocks);
  std::vector<float> shuffled(kBlocks);
  ASSERT_TRUE(is_ok(run_tree_reduce(kStream, kBlocks, in.data(), tree.data())));
  ASSERT_TRUE(is_ok(run_shuffle_reduce(kStream, kBlocks, in.data(), shuffled.data())));
  for (std::size_t b = 0; b < kBlocks; ++b) {
    const float sum = std::accumulate(in.begin() + static_cast<std::ptrdiff_t>(b * 256),
                                      in.begin() + static_cast<std::ptrdiff_t>(b * 256 + 256), 0.0f);
    EXPECT_EQ(tree[b], sum);
    EXPECT_EQ(shuffled[b], sum);
  }
}

TEST_P(EveryOrderRuns, Atomics) {
  constexpr unsigned kBlocks = 24;
  constexpr unsigned kThreads = 64;
  constexpr int kAll = kBlocks * kThreads;  // 1536
  AtomicTotals totals{};
  totals.and_int = -1;
  totals.inc_unsigned = 0;
  totals.dec_unsigned = 6;
  ASSERT_TRUE(is_ok(run_atomics(kStream, kBlocks, kThreads, &totals)));
  EXPECT_EQ(totals.add_int, 3 * kAll);
  EXPECT_EQ(totals.sub_int, -2 * kAll);
  EXPECT_EQ(totals.min_int, -(kAll - 1));
  EXPECT_EQ(totals.max_int, kAll - 1);
  EXPECT_EQ(totals.and_int, -1 & ~0xfffff);
  EXPECT_EQ(totals.or_int, 0xfffff);
  // 1536 = 5 * 307 + 1: bit 0 is flipped 308 times, the others 307 times.
  EXPECT_EQ(totals.xor_int, 0b11110);
  EXPECT_EQ(totals.add_unsigned, static_cast<unsigned>(kAll));
  EXPECT_EQ(totals.inc_unsigned, static_cast<unsigned>(kAll % 7));
  EXPECT_EQ(totals.dec_unsigned, static_cast<unsigned>(6 - kAll % 7));
  EXPECT_EQ(totals.exchanged, 77u);
  EXPECT_EQ(totals.add_ull, static_cast<unsigned long long>(kAll) << 33);
  EXPECT_EQ(totals.max_ull, static_cast<unsigned long long>(kAll - 1) << 32);
  EXPECT_EQ(totals.min_ll, -(static_cast<long long>(kAll - 1) << 32));
  EXPECT_EQ(totals.add_float, 0.5f * kAll);
  EXPECT_EQ(totals.add_double, 0.25 * kAll);
  EXPECT_EQ(totals.add_half, to_float16(100).bits);
  EXPECT_EQ(totals.add_bfloat16, to_bfloat16(100).bits);
  EXPECT_EQ(totals.cas_short, kAll);
  EXPECT_EQ(totals.locked_count, static_cast<unsigned>(kAll));
  EXPECT_EQ(totals.lock, 0u);
}

TEST_P(EveryOrderRuns, BlocksMayWaitForEarlierBlocks) {
  constexpr unsigned kBlocks = 200;
  std::vector<unsigned> flags(kBlocks);
  std::vector<unsigned> values(kBlocks);
  ASSERT_TRUE(is_ok(run_chain(kStream, kBlocks, flags.data(), values.data())));
  EXPECT_EQ(values.back(), 1 + (kBlocks - 1) * kBlocks / 2);
}

TEST_P(EveryOrderRuns, GridSync) {
  for (const unsigned blocks : {1u, 2u, 13u, 64u}) {
    constexpr unsigned kThreads = 48;
    constexpr int kRounds = 10;
    std::vector<int> values(std::size_t{blocks} * kThreads);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    ASSERT_TRUE(is_ok(run_grid_sync(kStream, blocks, kThreads, kRounds, values.data())));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t source = (i + std::size_t{kRounds} * kThreads) % values.size();
      EXPECT_EQ(values[i], static_cast<int>(source) + kRounds);
    }
  }
}

TEST_P(EveryOrderRuns, DynamicSharedMemoryIsPoisonedAlignedAndWhole) {
  for (const unsigned bytes : {64u, 49152u, 232448u}) {
    std::vector<unsigned> out(9);
    ASSERT_TRUE(is_ok(run_dynamic_shared(kStream, bytes, out.data())));
    for (std::size_t block = 0; block < 3; ++block) {
      EXPECT_EQ(out[3 * block], 0xffffffffu);
      EXPECT_EQ(out[3 * block + 1], bytes / 8);
      EXPECT_EQ(out[3 * block + 2], 0u);
    }
  }
}

TEST_P(EveryOrderRuns, EveryThreadOfAGridRunsOnce) {
  std::vector<unsigned> seen(288);
  ASSERT_TRUE(is_ok(run_indices(kStream, seen.data())));
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i % 24 < 12 ? 1u : 2u);
}

TEST(Launch, RefusesWhatAGpuRefuses) {
  use(kSchedules[0]);
  const auto refused = [](const Status& status, const char* why) {
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_TRUE(mentions(status, why));
  };
  EXPECT_TRUE(is_ok(run_unchecked_sizes(kStream, 1, 1024, 232448, 1, false)));
  refused(run_unchecked_sizes(kStream, 0, 32, 0, 1, false), "at least one block");
  refused(run_unchecked_sizes(kStream, 1, 0, 0, 1, false), "at least one block");
  refused(run_unchecked_sizes(kStream, 1, 1025, 0, 1, false), "1024 threads");
  refused(run_unchecked_sizes(kStream, 1, 32, 232449, 1, false), "232449 bytes of dynamic shared memory");
  refused(run_unchecked_sizes(kStream, 0x80000000u, 32, 0, 1, false), "larger than");
  refused(run_unchecked_sizes({kCpu, nullptr}, 1, 32, 0, 1, false), "stream of cpu");
  EXPECT_TRUE(is_ok(run_unchecked_sizes(kStream, 34, 32, 0, 2, false)));
  refused(run_unchecked_sizes(kStream, 33, 32, 0, 2, false), "a cluster of (2,1,1) blocks must");
  refused(run_unchecked_sizes(kStream, 34, 32, 0, 17, false), "1 to 16 blocks");
  refused(run_unchecked_sizes(kStream, 34, 32, 0, 0, false), "1 to 16 blocks");
}

TEST(Launch, RefusesWhatTheSimulatorDoesNotModel) {
  use(kSchedules[0]);
  const Status cluster = run_unchecked_sizes(kStream, 2, 32, 0, 2, true);
  EXPECT_EQ(cluster.code(), StatusCode::unsupported);
  EXPECT_TRUE(mentions(cluster, "a cooperative launch with clusters"));
  EXPECT_TRUE(is_ok(run_unchecked_sizes(kStream, 256, 64, 0, 1, true)));
  const Status blocks = run_unchecked_sizes(kStream, 257, 32, 0, 1, true);
  EXPECT_EQ(blocks.code(), StatusCode::unsupported);
  EXPECT_TRUE(mentions(blocks, "cooperative launch of 257 blocks"));
  EXPECT_EQ(run_unchecked_sizes(kStream, 32, 1024, 0, 1, true).code(), StatusCode::unsupported);
}

TEST(Launch, ServesSeveralHostThreads) {
  use({"", LaneOrder::forward, 0, 3});
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h) {
    hosts.emplace_back([h] {
      std::vector<float> in(2048, static_cast<float>(h + 1));
      std::vector<float> out(8);
      for (int repeat = 0; repeat < 30; ++repeat) {
        EXPECT_TRUE(is_ok(run_tree_reduce(kStream, 8, in.data(), out.data())));
        for (const float sum : out) EXPECT_EQ(sum, 256.0f * static_cast<float>(h + 1));
      }
    });
  }
  for (std::thread& host : hosts) host.join();
}

TEST(Launch, VectorsMustBeAligned) {
  use(kSchedules[0]);
  alignas(16) float in[132];
  alignas(16) float out[132];
  std::iota(std::begin(in), std::end(in), 0.0f);
  ASSERT_TRUE(is_ok(run_copy(kStream, 128, in, out)));
  EXPECT_TRUE(std::equal(in, in + 128, out));
#if !defined(__SANITIZE_ADDRESS__)  // UBSan, which the same build has, reports it first
  const Status status = run_copy(kStream, 128, in + 1, out);
  EXPECT_EQ(status.code(), StatusCode::device_error);
  EXPECT_TRUE(mentions(status, "misaligned access: 16 bytes at once"));
  EXPECT_TRUE(mentions(run_copy(kStream, 128, in, out + 2), "to an address that is 8 bytes past"));
  EXPECT_TRUE(is_ok(run_copy(kStream, 128, in, out)));
#endif
}

TEST(Printf, WritesWholeLinesToStderr) {
  use({"", LaneOrder::forward, 0, 4});
  std::fflush(stderr);
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const int kept = dup(STDERR_FILENO);
  ASSERT_GE(dup2(fileno(file), STDERR_FILENO), 0);
  const Status status = run_printf(kStream, 50, 64);
  std::fflush(stderr);
  ASSERT_GE(dup2(kept, STDERR_FILENO), 0);
  close(kept);
  EXPECT_TRUE(is_ok(status));
  std::rewind(file);
  std::multiset<std::string> lines;
  char line[200];
  while (std::fgets(line, sizeof(line), file) != nullptr) lines.insert(line);
  std::fclose(file);
  EXPECT_EQ(lines.size(), 400u);
  for (int block = 0; block < 50; ++block) {
    for (int thread = 0; thread < 64; thread += 8) {
      const std::string expected =
          "block " + std::to_string(block) + " thread " + std::to_string(thread) + " of a kernel 0.25\n";
      EXPECT_EQ(lines.count(expected), 1u) << expected;
    }
  }
}

TEST(Config, ParsesOrdersAndRefusesNonsense) {
  simt::ExecutorConfig config;
  EXPECT_TRUE(is_ok(simt::parse_lane_order("reversed", config)));
  EXPECT_EQ(config.order, LaneOrder::reversed);
  EXPECT_TRUE(is_ok(simt::parse_lane_order("random:18446744073709551615", config)));
  EXPECT_EQ(config.seed, UINT64_MAX);
  EXPECT_TRUE(is_ok(simt::parse_lane_order("forward", config)));
  EXPECT_EQ(config.order, LaneOrder::forward);
  for (const char* bad :
       {"", "Forward", "random", "random:", "random:-1", "random:1x", "random:18446744073709551616"}) {
    EXPECT_EQ(simt::parse_lane_order(bad, config).code(), StatusCode::invalid_argument) << bad;
  }
  config = {};
  config.workers = 65;
  EXPECT_TRUE(mentions(simt::set_executor_config(config), "65"));
  config.workers = -1;
  EXPECT_FALSE(simt::set_executor_config(config).ok());
  config = {};
  config.watchdog = std::chrono::milliseconds(0);
  EXPECT_FALSE(simt::set_executor_config(config).ok());
}

TEST(NumbersOnTheDevice, AreCudas) {
  use(kSchedules[0]);
  const float in[] = {1.0f, 2.5f, NAN, 1e20f, 65519.0f, 1.00390625f, 0.0f};
  Numbers n{};
  ASSERT_TRUE(is_ok(run_numbers(kStream, in, &n)));
  EXPECT_EQ(n.popc, 2u);
  EXPECT_EQ(n.ffs, 22u);
  EXPECT_EQ(n.clz, 1u);
  EXPECT_EQ(n.brev, 0x00000402u);
  // Bytes 4, 7, 1, 3 of 0x77765544 33221100 from the lowest: 44, 77, 11, 33.
  EXPECT_EQ(n.byte_perm, 0x33117744u);
  EXPECT_EQ(n.funnel_l, 0x02000008u);
  EXPECT_EQ(n.funnel_r, 0x08000000u);
  EXPECT_EQ(n.umulhi, 0x10100400u);
  EXPECT_EQ(n.mul24, 6);  // the low 24 bits are -2
  EXPECT_EQ(n.mulhi, -0x40200);
  EXPECT_EQ(n.dp4a, 7 + -1 * 5 + 1 * 4 + 0x20 * 3 + 0x40 * 2);
  EXPECT_EQ(n.popcll, 2);
  EXPECT_EQ(n.clzll, 33);
  EXPECT_EQ(n.ffsll, 42);
  EXPECT_EQ(n.float_as_int, static_cast<int>(0xbf800000u));
  EXPECT_EQ(n.to_int_rn, 2);
  EXPECT_EQ(n.to_int_rz, -2);
  EXPECT_EQ(n.to_int_ru, 3);
  EXPECT_EQ(n.to_int_rd, -3);
  EXPECT_EQ(n.to_int_saturated, 2147483647);
  EXPECT_EQ(n.to_int_nan, 0);
  EXPECT_FLOAT_EQ(n.rsqrt, 0.632455532f);
  EXPECT_EQ(n.fma, 7.25f);
  EXPECT_EQ(n.min_nan, 1.0f);
  EXPECT_EQ(n.from_bits, std::nextafter(2.5f, 3.0f));
  EXPECT_EQ(n.min_mixed, 5u);
  EXPECT_EQ(n.half_sum, to_float16(3.5).bits);
  EXPECT_EQ(n.half_fma, to_float16(2 * 0x1p-10 + 0x1p-20).bits);
  EXPECT_EQ(n.half_from_float, 0x7bff);  // below the midpoint to infinity
  EXPECT_EQ(n.half_neg, to_float16(-2.5).bits);
  EXPECT_EQ(n.bf16_product, to_bfloat16(5).bits);
  EXPECT_EQ(n.bf16_from_float, 0x3f80);  // a tie goes to even
  EXPECT_EQ(n.bf16_max, to_bfloat16(1).bits);
  EXPECT_EQ(n.half2_low, 2.0f);
  EXPECT_EQ(n.half2_high, 3.5f);
  EXPECT_EQ(n.loaded, 2.5f + 1.0f + 1.0f + 0.4f);
}

}  // namespace
}  // namespace rooftile::sim_testing
