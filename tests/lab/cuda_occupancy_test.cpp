// Our occupancy against the toolkit's own calculator, cuda_occupancy.h, over all architectures.
#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <map>
#include <string>

#include "rooftile/lab/inspect/occupancy.h"

namespace rooftile::lab {
namespace {

cudaOccDeviceProp properties_of(const SmLimits& sm) {
  constexpr std::size_t kKib = 1024;
  cudaOccDeviceProp properties;
  properties.computeMajor = sm.compute_capability / 10;
  properties.computeMinor = sm.compute_capability % 10;
  properties.maxThreadsPerBlock = kMaxThreadsPerBlock;
  properties.maxThreadsPerMultiprocessor = sm.warps * kWarpThreads;
  properties.regsPerBlock = kRegistersPerSm;
  properties.regsPerMultiprocessor = kRegistersPerSm;
  properties.warpSize = kWarpThreads;
  properties.sharedMemPerBlock = 48 * kKib;
  properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(sm.shared_kib) * kKib;
  properties.numSms = 1;
  properties.sharedMemPerBlockOptin = static_cast<std::size_t>(sm.largest_block_kib) * kKib;
  properties.reservedSharedMemPerBlock = static_cast<std::size_t>(sm.reserved_kib) * kKib;
  return properties;
}

struct Theirs {
  int blocks = 0;
  std::map<std::string, int> limits;
};

Theirs theirs(const SmLimits& sm, const BlockNeeds& needs) {
  const cudaOccDeviceProp properties = properties_of(sm);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = INT_MAX;
  attributes.numRegs = needs.registers.value_or(0);
  attributes.sharedSizeBytes = 0;
  attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin;
  attributes.numBlockBarriers = needs.barriers;
  attributes.virtualResourceCount = 0;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, needs.threads,
                                                    static_cast<std::size_t>(needs.shared_bytes)),
            CUDA_OCC_SUCCESS);
  return {result.activeBlocksPerMultiprocessor,
          {{"warps", result.blockLimitWarps},
           {"blocks", result.blockLimitBlocks},
           {"registers", result.blockLimitRegs},
           {"shared memory", result.blockLimitSharedMem},
           {"barriers", result.blockLimitBarriers}}};
}

class EveryArch : public testing::TestWithParam<SmLimits> {};
std::string arch_name(const testing::TestParamInfo<SmLimits>& sm) {
  return "sm_" + std::to_string(sm.param.compute_capability);
}
INSTANTIATE_TEST_SUITE_P(Occupancy, EveryArch, testing::ValuesIn(sm_limits().begin(), sm_limits().end()),
                         arch_name);

TEST_P(EveryArch, SaysWhatTheToolkitSays) {
  const SmLimits& sm = GetParam();
  int compared = 0;
  for (int threads : {1, 31, 32, 33, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512, 640, 768, 1023, 1024}) {
    for (int registers = 1; registers <= kMaxRegistersPerThread; registers += 3) {
      for (std::int64_t shared : {0, 1, 128, 1000, 4096, 16640, 33792, 49152, 49153, 65536, 65537, 101376,
                                  101377, 116000, 166912, 166913, 232448, 232449}) {
        for (int barriers : {0, 1, 2, 16}) {
          const BlockNeeds needs{threads, registers, shared, barriers};
          const Occupancy ours = occupancy_of(sm, needs);
          const Theirs expected = theirs(sm, needs);
          ++compared;
          ASSERT_EQ(ours.blocks, expected.blocks) << threads << " threads, " << registers << " registers, "
                                                  << shared << " bytes, " << barriers << " barriers";
          for (const OccupancyLimit& limit : ours.limits) {
            ASSERT_EQ(limit.blocks, expected.limits.at(limit.name))
                << limit.name << ": " << threads << " threads, " << registers << " registers, " << shared
                << " bytes, " << barriers << " barriers";
          }
          EXPECT_EQ(ours.blocks == 0, !ours.problem.empty());
        }
      }
    }
  }
  EXPECT_GT(compared, 100000);
}

}  // namespace
}  // namespace rooftile::lab
