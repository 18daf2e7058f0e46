// libcu++ beside our blocks: what corresponds to what stands in cuda_library_kernels.h.
#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/cuda_library_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

class CudaLibrary : public BlockTest {};
ROOFTILE_ON_EVERY_ORDER(CudaLibrary);

TEST_P(CudaLibrary, PipelineAndGroupsOfCpAsync) {
  constexpr std::size_t kBlocks = 3;
  for (const int n : {4, 256, 260, 1000, 4096}) {
    const auto count = static_cast<std::size_t>(n);
    std::vector<float> in(kBlocks * count);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 13);
    const DeviceArray<float> g_in = upload(in);
    std::vector<float> sums(kBlocks, 0.0f);
    for (std::size_t i = 0; i < in.size(); ++i) sums[i / count] += in[i];
    for (const bool library : {true, false}) {
      const DeviceArray<float> g_out = poisoned<float>(kBlocks);
      ASSERT_TRUE(is_ok(run_library_pipeline(stream(), library, kBlocks, n, g_in.data(), g_out.data())));
      EXPECT_EQ(g_out.read(), sums) << "n = " << n << ", library " << library;
    }
  }
}

TEST_P(CudaLibrary, AtomicRefAndAcquireRelease) {
  constexpr std::size_t kRounds = 50;
  std::vector<std::uint32_t> squares(kRounds);
  for (std::uint32_t i = 0; i < kRounds; ++i) squares[i] = i * i;
  for (const bool library : {true, false}) {
    const DeviceArray<std::uint32_t> g_out = poisoned<std::uint32_t>(kRounds);
    ASSERT_TRUE(is_ok(run_library_handover(stream(), library, kRounds, g_out.data())));
    EXPECT_EQ(g_out.read(), squares) << "library " << library;
  }
}

TEST_P(CudaLibrary, BarrierAndSyncthreads) {
  for (const bool library : {true, false}) {
    const DeviceArray<std::uint32_t> g_out = poisoned<std::uint32_t>(kLibraryThreads);
    ASSERT_TRUE(is_ok(run_library_barrier(stream(), library, g_out.data())));
    const std::vector<std::uint32_t> out = g_out.read();
    for (std::uint32_t t = 0; t < kLibraryThreads; ++t) {
      const std::uint32_t next = (t + 1) % kLibraryThreads;
      EXPECT_EQ(out[t], next * next) << "library " << library;
    }
  }
}

TEST_P(CudaLibrary, ScansAndCoalescedGroups) {
  const std::vector<std::uint32_t> in = random_values<std::uint32_t>(kLibraryThreads, 43);
  const DeviceArray<std::uint32_t> g_in = upload(in);
  const DeviceArray<std::uint32_t> g_out =
      poisoned<std::uint32_t>(std::size_t{2} * kScanPairs * kLibraryThreads);
  ASSERT_TRUE(is_ok(run_library_scans(stream(), g_in.data(), g_out.data())));
  const std::vector<std::uint32_t> out = g_out.read();
  std::uint32_t sum = 0;
  std::uint32_t odd = 0;
  for (std::size_t t = 0; t < kLibraryThreads; ++t) {
    if (t % 32 == 0) sum = odd = 0;
    const std::uint32_t rank = in[t] % 2 == 1 ? odd++ : 0;
    for (std::size_t ours = 0; ours < 2; ++ours) {
      EXPECT_EQ(out[ours * kLibraryThreads + t], sum + in[t]) << "ours " << ours << ", " << t;
      EXPECT_EQ(out[(2 + ours) * kLibraryThreads + t], sum) << "ours " << ours << ", " << t;
      EXPECT_EQ(out[(4 + ours) * kLibraryThreads + t], rank) << "ours " << ours << ", " << t;
    }
    sum += in[t];
  }
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
