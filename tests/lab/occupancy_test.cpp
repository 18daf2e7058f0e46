// Occupancy and waves of launches that are known by hand, and the table of architectures and GPUs.
#include "rooftile/lab/inspect/occupancy.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rooftile::lab {
namespace {

const SmLimits& sm(const std::string& arch) { return *parse_arch(arch)->sm; }

using Names = std::vector<std::string>;

TEST(Occupancy, NamesTheLimitThatBinds) {
  // 64 warps of 2048 threads: 8 blocks of 8 warps.
  const Occupancy threads = occupancy_of(sm("sm_90a"), {256, 32, 0, 0});
  EXPECT_EQ(threads.blocks, 8);
  EXPECT_EQ(threads.fraction(), 1.0);
  EXPECT_EQ(threads.binding, (Names{"warps", "registers"}));
  // 64 registers of 32 lanes: 2048 a warp, 32 warps in the register file.
  const Occupancy registers = occupancy_of(sm("sm_90a"), {256, 64, 0, 0});
  EXPECT_EQ(registers.blocks, 4);
  EXPECT_EQ(registers.fraction(), 0.5);
  EXPECT_EQ(registers.binding, Names{"registers"});
  // (100 + 1) KiB of 228.
  const Occupancy shared = occupancy_of(sm("sm_90a"), {256, 16, 100 * 1024, 0});
  EXPECT_EQ(shared.blocks, 2);
  EXPECT_EQ(shared.binding, Names{"shared memory"});
  const Occupancy blocks = occupancy_of(sm("sm_86"), {32, 16, 0, 0});
  EXPECT_EQ(blocks.blocks, 16);
  EXPECT_EQ(blocks.binding, Names{"blocks"});
  const Occupancy barriers = occupancy_of(sm("sm_90a"), {64, 16, 0, 16});
  EXPECT_EQ(barriers.blocks, 4);
  EXPECT_EQ(barriers.binding, Names{"barriers"});
}

TEST(Occupancy, SaysWhyABlockDoesNotFit) {
  const Occupancy shared = occupancy_of(sm("sm_75"), {256, 32, 65 * 1024, 0});
  EXPECT_EQ(shared.blocks, 0);
  EXPECT_NE(shared.problem.find("64 KiB"), std::string::npos) << shared.problem;
  const Occupancy registers = occupancy_of(sm("sm_80"), {1024, 128, 0, 0});
  EXPECT_EQ(registers.blocks, 0);
  EXPECT_NE(registers.problem.find("128 registers"), std::string::npos) << registers.problem;
  EXPECT_TRUE(occupancy_of(sm("sm_80"), {1024, 64, 0, 0}).problem.empty());
}

TEST(Occupancy, UnknownRegistersDoNotCount) {
  const Occupancy unknown = occupancy_of(sm("sm_89"), {256, std::nullopt, 0, 0});
  EXPECT_EQ(unknown.blocks, 6);
  for (const OccupancyLimit& limit : unknown.limits) EXPECT_NE(limit.name, "registers");
}

TEST(Waves, CountTheTail) {
  const Waves waves = waves_of(1000, 4, 100, 1);
  EXPECT_EQ(waves.slots, 400);
  EXPECT_DOUBLE_EQ(waves.count, 2.5);
  EXPECT_DOUBLE_EQ(waves.last_fill, 0.5);
  EXPECT_DOUBLE_EQ(waves.idle, 0.5 / 3);
  EXPECT_EQ(waves.busy_sms, 100);
  const Waves whole = waves_of(800, 4, 100, 1);
  EXPECT_DOUBLE_EQ(whole.last_fill, 1.0);
  EXPECT_DOUBLE_EQ(whole.idle, 0.0);
  EXPECT_EQ(waves_of(7, 4, 100, 1).busy_sms, 7);
  // 132 SMs of 1 block: 16 clusters of 8, and 4 blocks too few for another.
  EXPECT_EQ(waves_of(1000, 1, 132, 8).slots, 128);
}

TEST(Archs, AreReadAsNvccNamesThem) {
  EXPECT_EQ(parse_arch("sm_90a")->name, "sm_90a");
  EXPECT_EQ(parse_arch("90a")->name, "sm_90a");
  EXPECT_EQ(parse_arch("sm_120f")->name, "sm_120f");
  for (const char* wrong :
       {"", "sm_", "sm_70", "sm_80a", "sm_90f", "sm_9000", "90 ", "a", "-90", "sm_90ab"}) {
    const Result<GpuArch> arch = parse_arch(wrong);
    ASSERT_FALSE(arch.ok()) << wrong;
    EXPECT_NE(arch.status().message().find("sm_90a"), std::string::npos);
  }
}

TEST(Gpus, EachHasAnArchitectureAndEachArchitectureAGpu) {
  std::set<std::string> ids;
  for (const GpuModel& gpu : gpu_models()) {
    EXPECT_TRUE(ids.insert(std::string(gpu.id)).second) << gpu.id;
    EXPECT_EQ(find_gpu(gpu.id)->id, gpu.id);
    EXPECT_TRUE(arch_of(gpu).ok()) << gpu.id;
    EXPECT_EQ(simulated_properties(gpu)->multiprocessors, gpu.multiprocessors);
  }
  for (const SmLimits& limits : sm_limits()) {
    const GpuArch arch{"", &limits};
    EXPECT_EQ(typical_gpu(arch).compute_capability, limits.compute_capability);
  }
  EXPECT_EQ(typical_gpu(*parse_arch("sm_90a")).id, "h200");
  EXPECT_EQ(find_gpu("RTX 4090")->multiprocessors, 128);
  EXPECT_EQ(arch_of(*find_gpu("h200"))->name, "sm_90a");
  EXPECT_EQ(arch_of(*find_gpu("a100"))->name, "sm_80");
  EXPECT_NE(find_gpu("h300").status().message().find("h200"), std::string::npos);
}

}  // namespace
}  // namespace rooftile::lab
