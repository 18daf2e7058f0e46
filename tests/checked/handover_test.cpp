// Races between blocks: found where nothing orders the accesses, and not where release and acquire, or
// fences, do.
#include <algorithm>

#include "tests/checked/checked_test.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;
using simt::checked::FindingKind;

struct Expected {
  Handover kind;
  const char* name;
  bool race;
};
void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

using HandoverRun = std::tuple<Expected, simt::LaneOrder, int>;  // and how many OS threads
std::string handover_name(const ::testing::TestParamInfo<HandoverRun>& info) {
  const auto& [expected, order, workers] = info.param;
  return std::string(expected.name) + "_" + simt::order_name(order) + std::to_string(workers);
}

class Handovers : public ::testing::TestWithParam<HandoverRun> {
 protected:
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }
};

TEST_P(Handovers, AreJudged) {
  const auto& [expected, order, workers] = GetParam();
  ASSERT_TRUE(is_ok(simt::set_executor_config({.order = order, .seed = 9, .workers = workers})));
  constexpr unsigned kBlocks = 12;
  std::vector<int> values(kBlocks * 64, -1);
  std::vector<int> out(kBlocks * 64);
  std::vector<unsigned> flags(kBlocks);
  const Report report = watch(
      {}, {output("values", values), input("flags", flags), output("out", out)}, [&, kind = expected.kind] {
        return run_handover(kStream, kind, kBlocks, values.data(), flags.data(), out.data());
      });
  const bool found = std::any_of(report.findings.begin(), report.findings.end(), [](const auto& finding) {
    return finding.kind == FindingKind::race && finding.at.file == "tests/checked/handover_kernels.cu" &&
           finding.what.find("of values, which thread") != std::string::npos &&
           finding.what.find("of block (") != std::string::npos;
  });
  EXPECT_EQ(found, expected.race) << describe(report);
  if (!expected.race) {
    EXPECT_EQ(describe(report), "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Handovers,
    ::testing::Combine(::testing::Values(Expected{Handover::release_acquire, "release_acquire", false},
                                         Expected{Handover::through_mbarrier, "through_mbarrier", false},
                                         Expected{Handover::relaxed_flag, "relaxed_flag", true},
                                         Expected{Handover::fences, "fences", false},
                                         Expected{Handover::missing_fence, "missing_fence", true},
                                         Expected{Handover::ticket, "ticket", false},
                                         Expected{Handover::plain_ticket, "plain_ticket", true}),
                       simt::every_lane_order(), ::testing::Values(1, 3)),
    handover_name);

}  // namespace
}  // namespace rooftile::checked_testing
