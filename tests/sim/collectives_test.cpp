// Warp collectives and block barriers against their definitions, computed here lane by lane.
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "tests/sim/sim_test.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;

INSTANTIATE_TEST_SUITE_P(Sim, EveryOrder, ::testing::ValuesIn(kSchedules), schedule_name);

const unsigned kMasks[] = {0xffffffffu, 0x0000ffffu, 0xffff0000u, 0x55555555u,
                           0x80000001u, 0x00000001u, 0x0ff0a5c3u};

bool has(unsigned mask, int lane) { return (mask >> lane & 1u) != 0; }

// The source lane, from the PTX manual's definition of shfl.sync.
int source_of(Shuffle kind, int lane, int operand, int width) {
  const int first = lane / width * width;
  const int last = first + width - 1;
  const int b = operand & 31;
  switch (kind) {
    case Shuffle::index:
      return first + (b & (width - 1));
    case Shuffle::up:
      return lane - b >= first ? lane - b : lane;
    case Shuffle::down:
      return lane + b <= last ? lane + b : lane;
    case Shuffle::exchange:
      return (lane ^ b) <= last ? lane ^ b : lane;
  }
  return lane;
}

template <class T>
T poison() {
  const std::uint64_t bits = 0xfff7fff7fff7fff7u;
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T>
class EveryShuffle : public ::testing::Test {};
using ShuffledTypes = ::testing::Types<int, unsigned, long long, unsigned long long, float, double>;
TYPED_TEST_SUITE(EveryShuffle, ShuffledTypes);

TYPED_TEST(EveryShuffle, GivesEveryLaneItsSource) {
  using T = TypeParam;
  std::vector<T> in(32);
  for (int lane = 0; lane < 32; ++lane) {
    in[static_cast<std::size_t>(lane)] =
        static_cast<T>(1000 + lane) * static_cast<T>(sizeof(T) == 8 ? 1e10 : 1);
  }
  const T untouched = static_cast<T>(-5);
  for (const Schedule& schedule : kSchedules) {
    use(schedule);
    for (const Shuffle kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::exchange}) {
      for (const unsigned mask : kMasks) {
        for (const int width : {1, 2, 4, 8, 16, 32}) {
          for (const int operand : {0, 1, 2, 5, 15, 16, 31, 33}) {
            std::vector<T> out(32, untouched);
            ASSERT_TRUE(is_ok(run_shuffle(kStream, kind, mask, 0, operand, width, in.data(), out.data())));
            for (int lane = 0; lane < 32; ++lane) {
              const int source = source_of(kind, lane, operand, width);
              const T expected = !has(mask, lane)    ? untouched
                                 : has(mask, source) ? in[static_cast<std::size_t>(source)]
                                                     : poison<T>();
              ASSERT_EQ(std::memcmp(&out[static_cast<std::size_t>(lane)], &expected, sizeof(T)), 0)
                  << schedule.name << " kind " << static_cast<int>(kind) << " mask " << std::hex << mask
                  << std::dec << " width " << width << " operand " << operand << " lane " << lane;
            }
          }
        }
      }
    }
  }
}

TEST_P(EveryOrder, ShufflesSixteenBitTypes) {
  std::vector<std::uint16_t> in(32);
  for (std::size_t i = 0; i < 32; ++i) in[i] = static_cast<std::uint16_t>(0x3c00 + i);
  std::vector<std::uint16_t> out(96);
  ASSERT_TRUE(is_ok(run_shuffle_half(kStream, 0xffffffffu, 5, in.data(), out.data())));
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], in[i ^ 5]);
    EXPECT_EQ(out[32 + i], in[i ^ 5] | 0x8000);
    EXPECT_EQ(out[64 + i], in[i ^ 5]);
  }
}

TEST_P(EveryOrder, ShuffleFromAnExitedLaneIsPoison) {
  std::vector<int> in(32);
  std::iota(in.begin(), in.end(), 0);
  std::vector<int> out(32, -5);
  // The mask still names the lanes that have exited: the rest must not wait for them.
  ASSERT_TRUE(
      is_ok(run_shuffle(kStream, Shuffle::exchange, 0xffffffffu, 0x0000000cu, 2, 32, in.data(), out.data())));
  EXPECT_EQ(out[0], poison<int>());
  EXPECT_EQ(out[1], poison<int>());
  EXPECT_EQ(out[2], -5);
  EXPECT_EQ(out[4], 6);
}

TEST_P(EveryOrder, Votes) {
  std::mt19937 random(7);
  for (const unsigned mask : kMasks) {
    for (const unsigned exited : {0u, 0x00000f01u & ~(1u << std::countr_zero(mask))}) {
      for (const unsigned votes :
           {0u, 0xffffffffu, static_cast<unsigned>(random()), 1u << std::countr_zero(mask)}) {
        std::vector<int> predicate(32);
        for (int lane = 0; lane < 32; ++lane)
          predicate[static_cast<std::size_t>(lane)] = has(votes, lane) ? lane + 2 : 0;
        std::vector<Votes> out(32, Votes{99, 99, 99});
        ASSERT_TRUE(is_ok(run_votes(kStream, mask, exited, predicate.data(), out.data())));
        const unsigned voting = mask & ~exited;
        for (int lane = 0; lane < 32; ++lane) {
          const Votes& got = out[static_cast<std::size_t>(lane)];
          if (!has(voting, lane)) {
            EXPECT_EQ(got.any, 99);
            continue;
          }
          EXPECT_EQ(got.ballot, votes & voting);
          EXPECT_EQ(got.any, (votes & voting) != 0 ? 1 : 0);
          EXPECT_EQ(got.all, (votes & voting) == voting ? 1 : 0);
        }
      }
    }
  }
}

template <class T>
void check_matches(const std::vector<T>& in) {
  for (const unsigned mask : kMasks) {
    std::vector<Matches> out(32);
    ASSERT_TRUE(is_ok(run_matches(kStream, mask, in.data(), out.data())));
    bool all_equal = true;
    for (int a = 0; a < 32; ++a) {
      for (int b = 0; b < 32; ++b) {
        if (has(mask, a) && has(mask, b)) {
          all_equal = all_equal && in[static_cast<std::size_t>(a)] == in[static_cast<std::size_t>(b)];
        }
      }
    }
    for (int lane = 0; lane < 32; ++lane) {
      if (!has(mask, lane)) continue;
      unsigned expected = 0;
      for (int other = 0; other < 32; ++other) {
        if (has(mask, other) && in[static_cast<std::size_t>(other)] == in[static_cast<std::size_t>(lane)]) {
          expected |= 1u << other;
        }
      }
      EXPECT_EQ(out[static_cast<std::size_t>(lane)].any, expected);
      EXPECT_EQ(out[static_cast<std::size_t>(lane)].all, all_equal ? mask : 0u);
      EXPECT_EQ(out[static_cast<std::size_t>(lane)].all_predicate, all_equal ? 1 : 0);
    }
  }
}

TEST_P(EveryOrder, Matches) {
  std::vector<int> ints(32);
  std::vector<unsigned long long> wide(32);
  std::vector<float> floats(32);
  std::vector<double> doubles(32);
  for (std::size_t i = 0; i < 32; ++i) {
    ints[i] = static_cast<int>(i % 3) - 1;
    wide[i] = static_cast<unsigned long long>(i % 5) << 40;  // equal in the low half
    floats[i] = static_cast<float>(i / 4);
    doubles[i] = 2.5;
  }
  check_matches(ints);
  check_matches(wide);
  check_matches(floats);
  check_matches(doubles);
}

TEST_P(EveryOrder, Reductions) {
  std::mt19937 random(11);
  for (const unsigned mask : kMasks) {
    std::vector<unsigned> in(32);
    for (unsigned& value : in) value = static_cast<unsigned>(random());
    Reductions expected{
        0, ~0u, 0, ~0u, 0, 0, 0, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
    for (int lane = 0; lane < 32; ++lane) {
      if (!has(mask, lane)) continue;
      const unsigned value = in[static_cast<std::size_t>(lane)];
      expected.add += value;
      expected.min = std::min(expected.min, value);
      expected.max = std::max(expected.max, value);
      expected.all_bits &= value;
      expected.any_bit |= value;
      expected.odd_bits ^= value;
      expected.signed_min = std::min(expected.signed_min, static_cast<int>(value));
      expected.signed_max = std::max(expected.signed_max, static_cast<int>(value));
    }
    expected.signed_add = static_cast<int>(expected.add);
    std::vector<Reductions> out(32);
    ASSERT_TRUE(is_ok(run_reductions(kStream, mask, in.data(), out.data())));
    for (int lane = 0; lane < 32; ++lane) {
      if (!has(mask, lane)) continue;
      EXPECT_EQ(std::memcmp(&out[static_cast<std::size_t>(lane)], &expected, sizeof(expected)), 0) << lane;
    }
  }
}

TEST_P(EveryOrder, HalvesOfAWarpSynchroniseOnTheirOwn) {
  std::vector<int> out(32);
  ASSERT_TRUE(is_ok(run_split_warp(kStream, out.data())));
  for (int lane = 0; lane < 32; ++lane) {
    const int source = (lane + 16) % 32;
    // An odd number of exchanges leaves the neighbour's value.
    const int expected = (source ^ 1) + (source < 16 ? 3 : 5);
    EXPECT_EQ(out[static_cast<std::size_t>(lane)], expected) << lane;
  }
}

TEST_P(EveryOrder, BlockBarriersCombinePredicates) {
  for (const unsigned threads : {1u, 31u, 32u, 33u, 100u, 256u, 1024u}) {
    for (const unsigned exited : {0u, threads / 3}) {
      for (const int pattern : {0, 1, 2}) {
        std::vector<int> predicate(threads);
        for (std::size_t t = 0; t < threads; ++t)
          predicate[t] = pattern == 0 ? 0 : pattern == 1 ? 4 : static_cast<int>(t % 3);
        int count = 0;
        int sum = 0;
        for (std::size_t t = exited; t < threads; ++t) {
          count += predicate[t] != 0 ? 1 : 0;
          sum += static_cast<int>(t) + 1;
        }
        std::vector<int> out(4 * threads, -1);
        ASSERT_TRUE(is_ok(run_block_barriers(kStream, threads, exited, predicate.data(), out.data())));
        for (std::size_t t = exited; t < threads; ++t) {
          ASSERT_EQ(out[4 * t], count);
          ASSERT_EQ(out[4 * t + 1], count == static_cast<int>(threads - exited) ? 1 : 0);
          ASSERT_EQ(out[4 * t + 2], count > 0 ? 1 : 0);
          ASSERT_EQ(out[4 * t + 3], sum);
        }
        for (std::size_t t = 0; t < exited; ++t) ASSERT_EQ(out[4 * t], -1);
      }
    }
  }
}

TEST_P(EveryOrder, TilesOfAWarp) {
  constexpr int kThreads = 48;
  std::vector<int> out(8 * kThreads);
  ASSERT_TRUE(is_ok(run_tiles(kStream, 16, 3, out.data())));
  for (int rank = 0; rank < kThreads; ++rank) {
    const int first = rank / 8 * 8;
    const int* got = &out[static_cast<std::size_t>(8 * rank)];
    EXPECT_EQ(got[0], 8 * first + 28);
    EXPECT_EQ(got[1], first);
    EXPECT_EQ(got[2], first + 7);
    EXPECT_EQ(got[3], 0xaa);
    EXPECT_EQ(got[4], rank % 8);
    EXPECT_EQ(got[5], rank / 8);
    EXPECT_EQ(got[6], kThreads);
    const int down = rank % 8 + 3 < 8 ? rank + 3 : rank;
    const int up = rank % 8 >= 2 ? rank - 2 : rank;
    EXPECT_EQ(got[7], down + 1000 * up + 1000000 * (first == 8 ? 1 : 0)) << rank;
  }
}

}  // namespace
}  // namespace rooftile::sim_testing
