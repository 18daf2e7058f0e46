// Nsight Compute's output, and its failures, from scripts in its place.
#include "rooftile/lab/profile/ncu.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "rooftile/lab/profile/profile_metrics.h"
#include "tests/lab/ncu_output.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

TEST(NcuCsv, HoldsEveryKernelWithItsNumbers) {
  const Result<std::vector<NcuKernel>> kernels = parse_ncu_csv(kNcuOutput);
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  ASSERT_EQ(kernels->size(), 2u);
  const NcuKernel& first = kernels->front();
  EXPECT_NE(first.name.find("vectorized_kernel<Sum<float>>(const float *, long, int, float *)"),
            std::string::npos);
  EXPECT_EQ(first.grid, "(256, 1, 1)");
  EXPECT_EQ(first.block, "(512, 1, 1)");
  EXPECT_EQ(first.metric("smsp__thread_inst_executed.sum"), 19438592.0);
  EXPECT_DOUBLE_EQ(*first.metric("gpu__time_duration.sum"), 3.84e-6);
  EXPECT_EQ(first.metric("launch__tpc_enabled"), std::nullopt) << "its value is a word";
  EXPECT_EQ(first.metric("Device"), std::nullopt) << "no metric";
  EXPECT_EQ(kernels->back().metric("launch__occupancy_limit_registers"), 4.0);
}

// Of one metric in one unit.
double in_base_units(const std::string& unit, const std::string& value) {
  const std::string text = "\"ID\",\"Kernel Name\",\"a__b\"\n\"\",\"\",\"" + unit +
                           "\"\n\"0\",\"k, \"\"k\"\"\",\"" + value + "\"\n";
  const Result<std::vector<NcuKernel>> kernels = parse_ncu_csv(text);
  EXPECT_TRUE(kernels.ok()) << kernels.status().message();
  EXPECT_EQ(kernels->at(0).name, "k, \"k\"");
  return kernels->at(0).metric("a__b").value_or(-1);
}

TEST(NcuCsv, UnitsBecomeBaseUnits) {
  EXPECT_DOUBLE_EQ(in_base_units("usecond", "1,234.5"), 1234.5e-6);
  EXPECT_DOUBLE_EQ(in_base_units("ms", "2"), 2e-3);
  EXPECT_DOUBLE_EQ(in_base_units("Kbyte", "4"), 4e3);
  EXPECT_DOUBLE_EQ(in_base_units("Tbyte/s", "4.1"), 4.1e12);
  EXPECT_DOUBLE_EQ(in_base_units("byte/block", "64"), 64);
  EXPECT_DOUBLE_EQ(in_base_units("Ghz", "1.98"), 1.98e9);
  EXPECT_DOUBLE_EQ(in_base_units("%", "12.5"), 12.5);
  EXPECT_DOUBLE_EQ(in_base_units("", "n/a"), -1);
  EXPECT_DOUBLE_EQ(in_base_units("", "nan"), -1);
}

TEST(NcuCsv, CutOffTablesAreErrors) {
  EXPECT_FALSE(parse_ncu_csv("==PROF== Connected\n").ok());
  EXPECT_FALSE(parse_ncu_csv("\"ID\",\"a__b\"\n").ok());
  EXPECT_FALSE(parse_ncu_csv("\"ID\",\"a__b\"\n\"\",\"\"\n\"0\",\"1").ok());
  EXPECT_FALSE(parse_ncu_csv("\"ID\",\"a__b\",\"c__d\"\n\"\",\"\",\"\"\n\"0\",\"1\"\n").ok());
}

class Ncu : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "rooftile_ncu_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] Result<NcuRun> run(const std::string& script, double timeout_s = 60) const {
    const fs::path path = folder_ / "ncu";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    chmod(path.c_str(), 0700);
    return run_ncu(
        {.ncu = path.string(), .application = {"/bin/application", "word"}, .timeout_s = timeout_s});
  }

  void expect_failure(StatusCode code, const std::string& words, const std::string& script,
                      double timeout_s = 60) const {
    const Result<NcuRun> result = run(script, timeout_s);
    ASSERT_FALSE(result.ok()) << script;
    EXPECT_EQ(result.status().code(), code) << result.status().message();
    EXPECT_NE(result.status().message().find(words), std::string::npos) << result.status().message();
    EXPECT_EQ(result.status().message().find('\n'), std::string::npos);
  }

  fs::path folder_;
};

TEST_F(Ncu, LeavesClocksAloneAndProfilesTheRangeAlone) {
  std::ofstream(folder_ / "output") << kNcuOutput;
  const Result<NcuRun> result =
      run("echo \"$@\" >" + (folder_ / "words").string() + "\ncat " + (folder_ / "output").string() + "\n");
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->kernels.size(), 2u);
  EXPECT_NE(result->application_out.find("\"multiprocessors\":132"), std::string::npos);
  std::string words;
  std::getline(std::ifstream(folder_ / "words"), words);
  for (const char* part : {"--clock-control none", "--cache-control all", "--profile-from-start off", "--csv",
                           "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "/bin/application word"})
    EXPECT_NE(words.find(part), std::string::npos) << part << " in " << words;
}

TEST_F(Ncu, FailuresAreOneLineEach) {
  expect_failure(
      StatusCode::unavailable, "NVreg_RestrictProfilingToAdminUsers=0",
      "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0. See https://developer.nvidia.com/ERR_NVGPUCTRPERM'\n"
      "exit 1\n");
  expect_failure(
      StatusCode::unavailable, "LibraryNotLoaded",
      "echo '==PROF== Connected'; echo '==ERROR== Failed to initialize the profiler: LibraryNotLoaded'\n");
  expect_failure(StatusCode::unavailable, "ended with code 7", "exit 7\n");
  expect_failure(StatusCode::unavailable, "ended with code 1", "echo '==ERROR=='; exit 1\n");
  expect_failure(StatusCode::unsupported, "no kernel", "echo '==WARNING== No kernels were profiled.'\n");
  expect_failure(StatusCode::unavailable, "without a word", "");
  const Result<NcuRun> absent =
      run_ncu({.ncu = (folder_ / "nothing").string(), .application = {"/bin/true"}});
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.status().code(), StatusCode::io_error);
}

TEST_F(Ncu, TheApplicationsOwnWordsComeFirst) {
  const std::string ncu = "\necho '==ERROR== The application returned an error code.'\n";
  expect_failure(StatusCode::invalid_argument, "no such rung",
                 "echo 'rooftile: no such rung' >&2" + ncu + "exit 2");
  expect_failure(StatusCode::unavailable, "no GPU here", "echo 'rooftile: no GPU here' >&2" + ncu + "exit 3");
  expect_failure(StatusCode::check_failed, "wrong result",
                 "echo 'rooftile: wrong result' >&2" + ncu + "exit 1");
}

TEST_F(Ncu, ATimeLimitEndsIt) {
  const auto start = std::chrono::steady_clock::now();
  expect_failure(StatusCode::unavailable, "did not end within", "sleep 60 & wait\n", 0.2);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(ProfileMetrics, TheLimitAndTheStallsAreNamed) {
  const Result<std::vector<NcuKernel>> kernels = parse_ncu_csv(kNcuOutput);
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(occupancy_limit(kernels->front()), "registers (2 blocks)");
  EXPECT_EQ(occupancy_limit(kernels->back()), "registers, warps (4 blocks)");
  EXPECT_EQ(occupancy_limit({}), "");
  const std::vector<Stall> waits = stalls(kernels->front());
  ASSERT_EQ(waits.size(), 2u) << "selected is no stall";
  EXPECT_EQ(waits[0].reason, "long_scoreboard");
  EXPECT_DOUBLE_EQ(waits[0].cycles, 10.45);
  EXPECT_EQ(waits[1].reason, "barrier");
}

TEST(ProfileMetrics, NumbersReadWell) {
  EXPECT_EQ(metric_text(3.84e-6, MetricUnit::seconds), "3.84 us");
  EXPECT_EQ(metric_text(2.5e-3, MetricUnit::seconds), "2.500 ms");
  EXPECT_EQ(metric_text(1.094133e12, MetricUnit::bytes_per_second), "1.094 TB/s");
  EXPECT_EQ(metric_text(4201472, MetricUnit::bytes), "4.201 MB");
  EXPECT_EQ(metric_text(131072, MetricUnit::count), "131072");
}

TEST(ProfileMetrics, OnlyWhatWasAskedForIsKept) {
  NcuKernel kernel;
  kernel.metrics = {{"gpu__time_duration.sum", 1.0}, {"device__attribute_warp_size", 32.0}};
  keep_wanted_metrics(kernel);
  EXPECT_EQ(kernel.metrics.size(), 1u);
  EXPECT_TRUE(kernel.metric("gpu__time_duration.sum").has_value());
}

}  // namespace
}  // namespace rooftile::lab
