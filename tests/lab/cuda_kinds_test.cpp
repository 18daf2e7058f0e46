// One small operator of every kind that the lab judges, on a GPU.
#include <gtest/gtest.h>

#include "rooftile/core/memory.h"
#include "tests/lab/kinds/expect_judged.h"

namespace rooftile::lab::test {
namespace {

class CudaKinds : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (!cuda_availability().ok()) GTEST_SKIP() << cuda_availability();
  }
};

TEST_P(CudaKinds, RightRungsPassAndWrongOnesFail) { expect_judged(all_kinds()[GetParam()], cuda_device(0)); }

INSTANTIATE_TEST_SUITE_P(Lab, CudaKinds, testing::Range<std::size_t>(0, all_kinds().size()),
                         [](const auto& test) { return all_kinds()[test.param].op->name; });

// A captured launch of random numbers draws new ones at every replay: its state is in device memory.
TEST(CudaKinds, ACapturedDropoutAdvances) {
  if (!cuda_availability().ok()) GTEST_SKIP() << cuda_availability();
  const Kind kind = dropout_kind();
  HostProblem host = HostProblem::create(*kind.op, kind.cases, kind.cases.default_case).value();
  DeviceProblem problem = DeviceProblem::create(host, cuda_device(0)).value();
  const RungRow& rung = *kind.op->find_rung("right_gpu");
  const RungPlan plan;
  const Scratch scratch = problem.make_scratch({}).value();
  const Graph graph = Graph::capture(problem.stream(), [&] {
                        return rung.launch.cuda(problem.call(plan, scratch.workspace()));
                      }).value();
  const GraphExec exec = GraphExec::instantiate(graph).value();
  std::string outside;
  std::vector<std::vector<HostTensor>> replays;
  for (int replay = 0; replay < 2; ++replay) {
    ASSERT_TRUE(exec.launch(problem.stream()).ok());
    replays.push_back(problem.download_written(0, outside).value());
  }
  const auto n = static_cast<std::uint64_t>(replays[0][1].numel());
  EXPECT_EQ(replays[1][0].as<std::uint64_t>()[1] - replays[0][0].as<std::uint64_t>()[1], n);
  int differ = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i)
    differ += replays[0][1].at(i) != replays[1][1].at(i) ? 1 : 0;
  EXPECT_GT(differ, static_cast<int>(n) / 4);
}

}  // namespace
}  // namespace rooftile::lab::test
