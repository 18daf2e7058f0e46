// `rooftile profile` with a script in ncu's place: it needs neither a GPU nor Nsight Compute.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "rooftile/core/device.h"
#include "tests/cli/cli_testing.h"
#include "tests/lab/ncu_output.h"

namespace rooftile::cli_testing {
namespace {

using Json = nlohmann::json;

class ProfileCli : public CliTest {
 protected:
  // The path of a script that stands for ncu.
  std::string fake_ncu(const std::string& script) const {
    std::ofstream(path("ncu")) << "#!/bin/sh\n" << script;
    chmod(path("ncu").c_str(), 0700);
    return path("ncu");
  }
  std::string recorded_ncu() const {
    std::ofstream(path("output")) << lab::kNcuOutput;
    return fake_ncu("echo \"$@\" >" + path("words") + "\ncat " + path("output") + "\n");
  }
};

TEST_F(ProfileCli, ShowsTheTablesAndTheSimulatedCounters) {
  const Outcome outcome = run({"profile", "reduce/vectorized", "--simulated-case", "--ncu", recorded_ncu()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"Speed of Light", "3.84 us", "1.094 TB/s", "registers (2 blocks)",
                           "long_scoreboard", "reduce/vectorized on NVIDIA H200: n=1048576", "n/a",
                           "#2 combine_partials_kernel", "global loads, sectors"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " is not in\n" << outcome.out;
  const std::string words = read_file(path("words"));
  EXPECT_NE(words.find("profile reduce/vectorized --launch-only --device cuda:0 --simulated-case"),
            std::string::npos)
      << words;
}

TEST_F(ProfileCli, RecordsAreReadAgainWithoutAGpu) {
  const std::string record = path("profile_reduce.json");
  ASSERT_EQ(run({"profile", "reduce/vectorized", "--ncu", recorded_ncu(), "--json", record}).code, 0);
  const Json first = Json::parse(read_file(record));
  EXPECT_EQ(first["schema"], 1);
  ASSERT_EQ(first["profiles"].size(), 1u);
  const Json& profile = first["profiles"][0];
  EXPECT_EQ(profile["operator"], "reduce");
  EXPECT_EQ(profile["rung"], "vectorized");
  EXPECT_EQ(profile["measured"]["launch"]["multiprocessors"], 132);
  EXPECT_EQ(profile["measured"]["kernels"].size(), 2u);
  for (const Json& counter : profile["counters"]) {
    if (counter["name"] != "global_load_sectors") continue;
    EXPECT_EQ(counter["measured"], 131104);
    // Builds with sanitizers have no instrumented kernels.
    if (profile["simulated"]["same_case"] == true) {
      EXPECT_EQ(counter["simulated"], 131104);
    }
  }

  const Outcome again = run({"profile", "reduce", "--recorded", record, "--json", "-"});
  ASSERT_EQ(again.code, 0) << again.err;
  const Json second = Json::parse(again.out);
  EXPECT_EQ(second["profiles"][0]["measured"], profile["measured"]);
  EXPECT_EQ(second["profiles"][0]["counters"], profile["counters"]);

  const Outcome all = run({"profile", "--recorded", record, "--json", "-"});
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(Json::parse(all.out)["profiles"], second["profiles"]) << "without an operator: the whole record";

  expect_error(2, "profile_reduce.json holds no profile",
               {"profile", "reduce/single_pass", "--recorded", record});
  expect_error(2, "not a record of profiles", {"profile", "reduce/vectorized", "--recorded", path("output")});
}

// Too large for the simulated SM, and of a fill that no small case of these arguments has.
TEST_F(ProfileCli, ALargeCaseHasTheSameSmallOneWithAndWithoutARecord) {
  const Outcome simulated = run({"sim", "reduce/interleaved_strided", "--shape", "n=64"});
  if (lacks_instrumented_kernels(simulated)) GTEST_SKIP() << simulated.err;
  std::string output(lab::kNcuOutput);
  const std::size_t line = output.find(R"({"shape")");
  output.replace(
      line, output.find('\n', line) - line,
      R"({"shape":{"m":"4096","n":"4096","k":"4096"},"dtype":"bf16","args":{"transpose_b":"true"},)"
      R"("fill":"normal","offset":0,"seed":1,"gpu":"NVIDIA H200","compute_capability":90,)"
      R"("multiprocessors":132})");
  std::ofstream(path("output")) << output;
  const std::string record = path("profile_gemm.json");
  const Outcome first = run({"profile", "gemm/naive", "--dtype", "bf16", "--arg", "transpose_b=true", "--ncu",
                             fake_ncu("cat " + path("output")), "--json", record});
  ASSERT_EQ(first.code, 0) << first.err;
  const Json profile = Json::parse(read_file(record))["profiles"][0];
  EXPECT_EQ(profile["simulated"]["same_case"], false);
  ASSERT_TRUE(profile["simulated"]["case"].is_string()) << profile["simulated"]["reason"];
  const auto small = profile["simulated"]["case"].get<std::string>();
  EXPECT_NE(small.find("bf16"), std::string::npos) << small;
  EXPECT_NE(small.find("transpose_b=true"), std::string::npos) << small;
  const Outcome again = run({"profile", "gemm", "--recorded", record, "--json", "-"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["profiles"][0]["simulated"]["case"], profile["simulated"]["case"]);
}

TEST_F(ProfileCli, Failures) {
  expect_error(
      3, "NVreg_RestrictProfilingToAdminUsers",
      {"profile", "reduce/vectorized", "--ncu", fake_ncu("echo '==ERROR== ERR_NVGPUCTRPERM'; exit 1")});
  expect_error(3, "--timeout",
               {"profile", "reduce/vectorized", "--timeout", "0.2", "--ncu", fake_ncu("sleep 60")});
  // Of ncu's output the line of the watched program is not there.
  std::ofstream(path("output")) << lab::kNcuOutput;
  expect_error(1, "did not say what it launched",
               {"profile", "reduce/vectorized", "--ncu", fake_ncu("grep -v shape " + path("output"))});
}

TEST_F(ProfileCli, WrongCalls) {
  expect_error(2, "did you mean 'vectorized'", {"profile", "reduce/vectorised", "--ncu", recorded_ncu()});
  expect_error(2, "runs on the CPU alone", {"profile", "reduce/serial", "--ncu", recorded_ncu()});
  expect_error(2, "rooftile sim", {"profile", "reduce/vectorized", "--device", "sim"});
  expect_error(2, "--timeout", {"profile", "reduce/vectorized", "--timeout", "0"});
  expect_error(2, "cannot run", {"profile", "reduce/vectorized", "--ncu", path("nothing")});
  expect_error(2, "one rung", {"profile", "reduce", "--launch-only"});
}

TEST_F(ProfileCli, WithoutAGpuItSaysSo) {
  if (cuda_availability().ok()) GTEST_SKIP() << "there is a GPU";
  expect_error(3, "not usable here", {"profile", "reduce/vectorized"});
  expect_error(3, "not usable here", {"profile", "reduce/vectorized", "--launch-only"});
  // Found only by the watched program.
  expect_error(3, "not usable here",
               {"profile", "reduce/vectorized", "--ncu",
                fake_ncu("while [ \"$1\" != '" + std::string(program()) + "' ]; do shift; done\n\"$@\"")});
}

}  // namespace
}  // namespace rooftile::cli_testing
