// What rungs launch on cases and GPUs that are not here.
#include "rooftile/lab/inspect/launch_plan.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "rooftile/lab/inspect/kernel_name.h"

namespace rooftile::lab {
namespace {

class LaunchPlans : public testing::Test {
 protected:
  LaunchPlans() {
    register_all_operators(registry_);
    register_all_lessons(registry_);
    register_all_cases(registry_);
  }
  Result<LaunchPlan> plan(const std::string& op_name, const std::string& rung,
                          const CaseRequest& request = {}, const std::string& gpu = "h200") {
    const OperatorDescriptor& op = *registry_.find(op_name);
    return plan_launches(registry_, op, *op.find_rung(rung), request, *find_gpu(gpu));
  }
  Registry registry_;
};

TEST_F(LaunchPlans, NameEveryKernelAndItsGrid) {
  CaseRequest request;
  request.shape = {{"n", "65536"}};
  const Result<LaunchPlan> found = plan("reduce", "interleaved_divergent", request);
  ASSERT_TRUE(found.ok()) << found.status().message();
  // 256 blocks of 256 threads, then one for their 256 sums.
  ASSERT_EQ(found->launches.size(), 2u);
  EXPECT_EQ(found->launches[0].blocks(), 256);
  EXPECT_EQ(found->launches[0].block_threads(), 256);
  EXPECT_EQ(found->launches[1].blocks(), 1);
  for (const PlannedLaunch& launch : found->launches) {
    EXPECT_EQ(short_kernel_name(launch.kernel), "interleaved_divergent_kernel<Sum<float>>");
    EXPECT_EQ(launch.times, 1);
    EXPECT_EQ(launch.cluster_blocks(), 1);
  }
}

TEST_F(LaunchPlans, TakeTheGpusMultiprocessors) {
  const auto blocks_on = [&](const std::string& gpu) {
    return plan("reduce", "single_pass", {}, gpu)->launches.at(0).blocks();
  };
  EXPECT_EQ(blocks_on("h200"), 2 * 132);
  EXPECT_EQ(blocks_on("l4"), 2 * 58);
}

// 64 GiB of input, and no byte of it here.
TEST_F(LaunchPlans, NeedNoMemory) {
  CaseRequest request;
  request.shape = {{"n", "2^34"}};
  const Result<LaunchPlan> found = plan("reduce", "single_pass", request);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->the_case.shape.at(0).second, std::int64_t{1} << 34);
}

TEST_F(LaunchPlans, TakeTheDtypesKernel) {
  CaseRequest request;
  request.dtype = DType::bf16;
  const Result<LaunchPlan> found = plan("reduce", "no_allocate_loads", request);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_NE(found->launches.at(0).kernel.find("Sum<__nv_bfloat16>>("), std::string::npos)
      << found->launches.at(0).kernel;
}

// Every rung launches something, on its operator's default case or on one like it.
TEST_F(LaunchPlans, EveryGpuRungHasOne) {
  int rungs = 0;
  for (const OperatorDescriptor* op : registry_.operators()) {
    for (const RungRow& rung : op->rungs) {
      if (rung.kind != RungKind::gpu) continue;
      const Result<LaunchPlan> found = plan(op->name, rung.id);
      ASSERT_TRUE(found.ok()) << rung.id << ": " << found.status().message();
      EXPECT_FALSE(found->launches.empty()) << rung.id;
      for (const PlannedLaunch& launch : found->launches) {
        EXPECT_FALSE(launch.kernel.empty()) << rung.id;
        EXPECT_GT(launch.blocks(), 0) << rung.id;
      }
      ++rungs;
    }
  }
  EXPECT_GT(rungs, 20);
}

TEST_F(LaunchPlans, SayWhatIsNotServed) {
  const Status cpu = plan("reduce", "serial").status();
  EXPECT_EQ(cpu.code(), StatusCode::invalid_argument);
  EXPECT_NE(cpu.message().find("CPU alone"), std::string::npos) << cpu.message();
  const Status arch = plan("transpose", "tma", {}, "a100").status();
  EXPECT_EQ(arch.code(), StatusCode::unsupported);
  EXPECT_NE(arch.message().find("sm_90a"), std::string::npos) << arch.message();
  CaseRequest request;
  request.shape = {{"n", "65536"}};
  const Status shape = plan("reduce", "column_tiles", request).status();
  EXPECT_EQ(shape.code(), StatusCode::unsupported) << shape.message();
}

}  // namespace
}  // namespace rooftile::lab
