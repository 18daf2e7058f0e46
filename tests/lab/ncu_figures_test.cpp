// The table of ncu's figures in an operator's README.
#include "rooftile/lab/profile/ncu_figures.h"

#include <gtest/gtest.h>

namespace rooftile::lab {
namespace {

NcuKernel kernel(double seconds, double registers) {
  NcuKernel made;
  made.metrics = {{"gpu__time_duration.sum", seconds},
                  {"launch__registers_per_thread", registers},
                  {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 84.82},
                  {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 0.5}};
  return made;
}

RecordedProfile recorded(const char* rung, std::vector<NcuKernel> kernels) {
  RecordedProfile profile;
  profile.operator_name = "fake";
  profile.rung = rung;
  profile.command = "the command";
  profile.commit = "0123456789abcdef";
  profile.measured.launch.gpu = "NVIDIA H200";
  profile.measured.launch.the_case.shape = {{"m", "64"}, {"n", "32"}};
  profile.measured.kernels = std::move(kernels);
  profile.sources = {{"kernel", "k1"}};
  return profile;
}

TEST(NcuFigures, AreOfTheLongestKernelOfEachRung) {
  const std::vector<SourceEntry> present = {{"fake", "one", "kernel", "k1"}, {"fake", "two", "kernel", "k2"}};
  const std::string text = ncu_figures(
      {recorded("one", {kernel(2e-6, 40), kernel(1e-3, 230)}), recorded("two", {kernel(5e-6, 32)})}, "fake",
      present);
  EXPECT_NE(
      text.find("### Under Nsight Compute\n\nm=64, n=32 on NVIDIA H200: `the command`, commit 0123456789ab."),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          "| one (the longest of 2 kernels) | 1.000 ms | 84.8 % | | | | | 230 | | | the other warps at a barrier |"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("| two† | 5.00 us |"), std::string::npos) << text;
  EXPECT_EQ(text.find("### Under", 10), std::string::npos) << text;  // one heading
}

TEST(NcuFigures, OfAnotherGpuHaveATableOfTheirOwn) {
  RecordedProfile other = recorded("one", {kernel(1e-3, 230)});
  other.measured.launch.gpu = "NVIDIA H100";
  const std::string text = ncu_figures({other, recorded("one", {kernel(2e-3, 230)})}, "fake", {});
  EXPECT_NE(text.find("on NVIDIA H100"), std::string::npos) << text;
  EXPECT_NE(text.find("on NVIDIA H200"), std::string::npos) << text;
}

TEST(NcuFigures, ComparedCountersAloneMakeNoTable) {
  NcuKernel counters;
  counters.metrics = {{"smsp__inst_executed.sum", 1.0}};
  EXPECT_EQ(ncu_figures({recorded("one", {counters}), recorded("two", {})}, "fake", {}), "");
  EXPECT_EQ(ncu_figures({recorded("one", {kernel(1e-3, 230)})}, "another", {}), "");
}

}  // namespace
}  // namespace rooftile::lab
