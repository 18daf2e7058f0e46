// CUDA's C++ library: barriers, pipelines, asynchronous copies and atomics give the results that its
// documentation says, and copies arrive at the wait.
#include <algorithm>
#include <numeric>

#include "tests/sim/libcu_kernels.h"
#include "tests/sim/sim_test.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;

class Library : public EveryOrder {};
INSTANTIATE_TEST_SUITE_P(Sim, Library, ::testing::ValuesIn(kSchedules), schedule_name);

constexpr int kBlock = 64;

struct alignas(16) Input {
  int values[16 * kBlock];
  Input() { std::iota(std::begin(values), std::end(values), 5); }
};

TEST_P(Library, BarriersHandOver) {
  const Input in;
  for (const BarrierKind kind :
       {BarrierKind::arrive_and_wait, BarrierKind::constructed, BarrierKind::tokens, BarrierKind::drop,
        BarrierKind::copies, BarrierKind::group, BarrierKind::of_bulk, BarrierKind::updates}) {
    std::vector<int> out(kBlock, -1);
    ASSERT_TRUE(is_ok(run_barrier(kStream, kind, in.values, out.data())));
    // Of the drop, warp 0 copies both halves.
    for (int t = 0; t < kBlock; ++t) {
      EXPECT_EQ(out[static_cast<std::size_t>(t)], in.values[t]) << static_cast<int>(kind);
    }
  }
}

TEST_P(Library, WaitsCanGiveUp) {
  Patience patience{};
  ASSERT_TRUE(is_ok(run_patience(kStream, &patience)));
  EXPECT_EQ(patience.gave_up, 1);
  EXPECT_EQ(patience.passed, 1);
  EXPECT_EQ(patience.parity_passed, 1);
}

TEST_P(Library, BarriersOfTheDevice) {
  constexpr unsigned kBlocks = 5;
  std::uint64_t barrier[9] = {};
  std::vector<int> values(kBlocks);
  std::vector<int> sums(kBlocks);
  ASSERT_TRUE(is_ok(run_device_barrier(kStream, kBlocks, barrier, values.data(), sums.data())));
  for (const int sum : sums) EXPECT_EQ(sum, 3 * 10 + 5 * (0 + 100 + 200));
}

TEST_P(Library, PipelinesBringEveryTile) {
  const Input in;
  for (const PipelineKind kind :
       {PipelineKind::of_threads, PipelineKind::of_threads_prior, PipelineKind::of_block,
        PipelineKind::of_block_by_group, PipelineKind::first_warp_produces, PipelineKind::by_roles,
        PipelineKind::primitives}) {
    for (const int tiles : {1, 2, 3, 4, 11, 16}) {
      std::vector<int> out(kBlock + 1, 0);
      ASSERT_TRUE(is_ok(run_pipeline(kStream, kind, tiles, in.values, out.data())));
      for (int t = 0; t < kBlock; ++t) {
        int sum = 0;
        for (int tile = 0; tile < tiles; ++tile) sum += in.values[tile * kBlock + t];
        ASSERT_EQ(out[static_cast<std::size_t>(t)], sum) << static_cast<int>(kind) << " of " << tiles;
      }
      const bool of_block = kind == PipelineKind::of_block || kind == PipelineKind::of_block_by_group;
      EXPECT_EQ(out[kBlock], of_block ? 1 : 0);
    }
  }
}

TEST_P(Library, WhatIsNotReadIsZero) {
  const Input in;
  std::vector<int> out(8, 99);
  ASSERT_TRUE(is_ok(run_zero_fill(kStream, in.values, out.data())));
  EXPECT_EQ(out, (std::vector<int>{-1, -1, -1, -1, in.values[0], in.values[1], 0, 0}));
}

TEST_P(Library, AtomicOperations) {
  AtomicFacts facts{};
  ASSERT_TRUE(is_ok(run_atomic_operations(kStream, &facts)));
  // The fetches, then ++ -- += -= &= |= ^= = and the conversion.
  const int after[17] = {15, 7, 4, 15, 9, 7, 40, 9, 13, 11, 22, -8, 4, 15, 9, 7, 12};
  const int returned[17] = {12, 12, 12, 12, 12, 12, 12, 12, 13, 12, 22, -8, 4, 15, 9, 7, 12};
  for (int i = 0; i < 17; ++i) {
    EXPECT_EQ(facts.after[i], after[i]) << i;
    EXPECT_EQ(facts.returned[i], returned[i]) << i;
  }
  EXPECT_EQ(facts.replaced, 1);
  EXPECT_EQ(facts.not_replaced, 1);
  EXPECT_EQ(facts.found, 5);
  EXPECT_EQ(facts.float_sum, 1.75f);
  EXPECT_EQ(facts.double_max, 2.0);
  EXPECT_EQ(facts.byte, 4);
  EXPECT_EQ(facts.pointer_step, 3);
}

TEST_P(Library, AtomicsCountExactly) {
  AtomicCounts counts{};
  ASSERT_TRUE(is_ok(run_atomic_counts(kStream, 7, 96, &counts)));
  EXPECT_EQ(counts.by_ref, 7 * 96);
  EXPECT_EQ(counts.by_cas, 7 * 96);
  EXPECT_EQ(counts.largest, 7 * 96 - 1);
  EXPECT_EQ(counts.by_object, 7u * 96u);
}

TEST_P(Library, AtomicsHandOver) {
  int flag = 0;
  int value = 0;
  int out = 0;
  ASSERT_TRUE(is_ok(run_atomic_handover(kStream, &flag, &value, &out)));
  EXPECT_EQ(out, 42);
}

TEST_P(Library, MisuseIsNamed) {
  const Input in;
  const struct {
    LibraryMisuse misuse;
    const char* text;
  } kExpected[] = {
      {LibraryMisuse::barrier_without_init, "holds no initialised mbarrier"},
      {LibraryMisuse::too_many_arrivals, "2 arrivals, while the phase of this mbarrier waits for 1 of 1"},
      {LibraryMisuse::aligned_size, "memcpy_async: 20 bytes are no multiple of their aligned_size_t's 16"},
      {LibraryMisuse::aligned_address, "memcpy_async of aligned_size_t to memory"},
      {LibraryMisuse::width, "__pipeline_memcpy_async: of 4, 8 or 16 bytes, not 12"},
  };
  for (const auto& expected : kExpected) {
    const Status status = run_library_misuse(kStream, expected.misuse, in.values);
    EXPECT_TRUE(mentions(status, expected.text));
    EXPECT_TRUE(mentions(status, "libcu_kernels.cu:"));
  }
}

}  // namespace
}  // namespace rooftile::sim_testing
