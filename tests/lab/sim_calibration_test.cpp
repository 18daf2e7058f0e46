// Counters side by side, records of them, and what the calibration says of a record.
#include "rooftile/lab/profile/sim_calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/lab/ncu_output.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;
using simt::checked::AccessKind;
using simt::checked::MemorySpace;

std::vector<NcuKernel> kernels() {
  Result<std::vector<NcuKernel>> parsed = parse_ncu_csv(kNcuOutput);
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? *parsed : std::vector<NcuKernel>();
}

// What the simulated SM would say of the kernels above, but for a load request too many.
simt::checked::Report report() {
  simt::checked::Report report;
  report.accesses = {
      {.at = {"k.cu", 1}, .kind = AccessKind::load, .space = MemorySpace::global, .counts = {}},
      {.at = {"k.cu", 2}, .kind = AccessKind::store, .space = MemorySpace::global, .counts = {}}};
  report.accesses[0].counts.requests = 8201;
  report.accesses[0].counts.sectors = 131104;
  report.accesses[1].counts.requests = 257;
  report.accesses[1].counts.sectors = 257;
  return report;
}

const Counter& find(const std::vector<Counter>& counters, const std::string& name) {
  static const Counter none;
  const auto at =
      std::find_if(counters.begin(), counters.end(), [&](const Counter& c) { return c.name == name; });
  EXPECT_NE(at, counters.end()) << name;
  return at == counters.end() ? none : *at;
}

TEST(Counters, AreSumsOverTheKernelsOfBothSides) {
  const simt::checked::Report simulated = report();
  const std::vector<Counter> counters = compare_counters(kernels(), &simulated);
  EXPECT_EQ(find(counters, "global_load_requests").measured, 8200.0);
  EXPECT_EQ(find(counters, "global_load_requests").simulated, 8201.0);
  EXPECT_EQ(find(counters, "global_load_sectors").deviation(), 0.0);
  EXPECT_NEAR(*find(counters, "global_load_requests").deviation(), 1.0 / 8200, 1e-12);
  EXPECT_EQ(find(counters, "shared_store_wavefronts").measured, 4112.0);
  EXPECT_EQ(find(counters, "shared_store_wavefronts").deviation(), -1.0);
  EXPECT_NEAR(*find(counters, "threads_per_instruction").measured, (19438592.0 + 31331) / (608448 + 982),
              1e-9);
  EXPECT_TRUE(std::none_of(counters.begin(), counters.end(), [](const Counter& c) {
    return c.name == "global_atomic_sectors";
  })) << "neither side saw one";
}

TEST(Counters, LanesAreNotCountedWhereBlocksRunAtOnce) {
  simt::checked::Report simulated = report();
  simulated.basic_blocks = 10;
  simulated.basic_block_lanes = 320;
  simulated.kernels = {{.name = "alone"}};
  EXPECT_EQ(find(compare_counters(kernels(), &simulated), "threads_per_instruction").simulated, 32.0);
  simulated.kernels.push_back({.name = "clusters", .at_once = true});
  EXPECT_FALSE(
      find(compare_counters(kernels(), &simulated), "threads_per_instruction").simulated.has_value());
}

TEST(Counters, AMetricThatTheGpuLacksIsNotZero) {
  std::vector<NcuKernel> some = kernels();
  some.back().metrics.erase("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
  const simt::checked::Report simulated = report();
  const std::vector<Counter> counters = compare_counters(some, &simulated);
  EXPECT_FALSE(find(counters, "global_load_sectors").measured.has_value());
  EXPECT_FALSE(find(counters, "global_load_sectors").deviation().has_value());
  EXPECT_FALSE(find(compare_counters(some, nullptr), "global_load_requests").simulated.has_value());
}

Profile made_up_profile() {
  Profile profile;
  profile.operator_name = "fake";
  profile.rung = "vectorized";
  profile.measured.launch.the_case.shape = {{"n", "1048576"}};
  profile.measured.launch.the_case.args = {{"op", "sum"}};
  profile.measured.launch.the_case.dtype = DType::f32;
  profile.measured.launch.the_case.fill = Fill::uniform;
  profile.measured.launch.the_case.offset = 0;
  profile.measured.launch.the_case.seed = 1;
  profile.measured.launch.gpu = "NVIDIA H200";
  profile.measured.launch.compute_capability = 90;
  profile.measured.launch.multiprocessors = 132;
  profile.measured.kernels = kernels();
  profile.simulation.emplace();
  profile.same_case = true;
  profile.counters = {{"global_load_sectors", 1000.0, 1000.0},
                      {"global_store_sectors", 1000.0, 1010.0},
                      {"shared_load_wavefronts", 1000.0, 900.0}};
  return profile;
}

std::vector<RecordedProfile> made_up_record() {
  Result<ProfileRecord> read =
      parse_profiles(profiles_json({made_up_profile()}, {{"fake", "tma", "another GPU"}}, "command"));
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (!read.ok()) return {};
  EXPECT_EQ(read->skipped.size(), 1u);
  EXPECT_EQ(read->skipped.at(0).reason, "another GPU");
  return read->profiles;
}

TEST(ProfileRecord, ReadsBackWhatItWrote) {
  const std::vector<RecordedProfile> read = made_up_record();
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].operator_name, "fake");
  EXPECT_EQ(read[0].rung, "vectorized");
  EXPECT_EQ(read[0].measured.launch.multiprocessors, 132);
  EXPECT_EQ(read[0].measured.launch.the_case.shape,
            (std::vector<std::pair<std::string, std::string>>{{"n", "1048576"}}));
  ASSERT_EQ(read[0].measured.kernels.size(), 2u);
  EXPECT_EQ(read[0].measured.kernels[0].metric("smsp__inst_executed.sum"), 608448.0);
  EXPECT_EQ(read[0].counters.size(), 3u);
  EXPECT_TRUE(read[0].same_case);

  // Simulated again, a record keeps whence its measured half came.
  Profile again = made_up_profile();
  again.measured = read[0].measured;
  const auto twice = parse_profiles(profiles_json({again}, {}, "another command"));
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(twice->profiles.at(0).command, "command");
}

TEST(ProfileRecord, OtherTextsAreNoRecords) {
  for (const char* text : {"", "[]", "{\"schema\":1}", "{\"schema\":2,\"profiles\":[],\"skipped\":[]}",
                           "{\"schema\":1,\"profiles\":[{\"rung\":\"y\"}],\"skipped\":[]}"}) {
    EXPECT_FALSE(parse_profiles(text).ok()) << text;
  }
}

// Of an operator that no build knows.
constexpr SourceEntry kOtherSources[] = {{"fake", "vectorized", "kernel", "0123456789ab"}};

TEST(SimCalibration, ADeviationWantsAnExplanation) {
  const SimCalibration silent = sim_calibration(made_up_record(), {});
  ASSERT_EQ(silent.problems.size(), 1u);
  EXPECT_EQ(silent.problems[0],
            "fake/vectorized shared_load_wavefronts is off by -10.0 %, and nobody explains it");

  const std::vector<Explanation> explanations = {
      {"fake/vectorized", {"shared_load_wavefronts"}, "two loads in one"}};
  const SimCalibration explained = sim_calibration(made_up_record(), explanations);
  EXPECT_TRUE(explained.problems.empty()) << explained.problems[0];
  EXPECT_NE(explained.markdown.find(
                "3 counters of 1 rungs: 1 are equal to the last digit, 1 more differ by at most "
                "1.0 %, 1 by more than 2 %, each explained below; the furthest is shared_load_wavefronts of "
                "fake/vectorized, by 10 %.\n"),
            std::string::npos)
      << explained.markdown;
  EXPECT_NE(explained.markdown.find("two loads in one"), std::string::npos);
  EXPECT_NE(explained.markdown.find("**1000 (-10.0 %)**"), std::string::npos);
  EXPECT_EQ(explained.markdown.find("stale"), std::string::npos);
  EXPECT_NE(sim_calibration(made_up_record(), explanations, kOtherSources)
                .markdown.find("; *stale, measured from other sources: vectorized*"),
            std::string::npos);
}

TEST(SimCalibration, AnExplanationWantsADeviation) {
  const SimCalibration idle = sim_calibration(
      made_up_record(), {{"fake/vectorized", {"shared_load_wavefronts", "global_store_sectors"}, "why"},
                         {"fake/none", {"x"}, "why"}});
  ASSERT_EQ(idle.problems.size(), 2u);
  EXPECT_EQ(idle.problems[0], "fake/vectorized global_store_sectors is explained, but agrees: drop it");
  EXPECT_EQ(idle.problems[1], "fake/none x is explained, but agrees: drop it");
}

TEST(SimCalibration, WhatOnlyTheSimulatorSawIsOff) {
  std::vector<RecordedProfile> record = made_up_record();
  record[0].counters = {{"global_atomic_sectors", 0.0, 5.0}};
  EXPECT_EQ(sim_calibration(record, {}).problems.size(), 1u);
  const std::vector<Explanation> explained = {
      {"fake/vectorized", {"global_atomic_sectors"}, "of no address"}};
  EXPECT_TRUE(sim_calibration(record, explained).problems.empty());
  record[0].counters = {{"global_atomic_sectors", {}, 5.0}};
  EXPECT_TRUE(sim_calibration(record, {}).problems.empty()) << "the GPU has no such counter";
}

TEST(SimCalibration, ExplanationsAreLines) {
  const auto parsed = parse_explanations("# rung\tcounters\treason\n\na/b\tx,y\tbecause of z\n");
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->size(), 1u);
  EXPECT_EQ(parsed->at(0).counters, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(parsed->at(0).reason, "because of z");
  EXPECT_FALSE(parse_explanations("a/b\tx\n").ok());
}

TEST(SimCalibration, OnlyProfilesOfTheSameCaseCount) {
  std::string name = (fs::temp_directory_path() / "rooftile_calibration_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path folder = fs::path(name) / "results" / "gpu";
  fs::create_directories(folder);
  Profile large = made_up_profile();
  large.same_case = false;
  std::ofstream(folder / "profile_small.json") << profiles_json({made_up_profile()}, {}, "c");
  std::ofstream(folder / "profile_large.json") << profiles_json({large}, {}, "c");
  std::ofstream(folder / "fake.json") << "{\"schema\":1,\"operator\":\"fake\",\"results\":[]}";
  const auto read = read_profiles(name);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->size(), 2u);
  EXPECT_NE(sim_calibration(*read, {}).markdown.find("3 counters of 1 rungs"), std::string::npos);
  std::ofstream(folder / "profile_broken.json") << "{";
  EXPECT_FALSE(read_profiles(name).ok());
  fs::remove_all(name);
}

}  // namespace
}  // namespace rooftile::lab
