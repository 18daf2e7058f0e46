// `rooftile inspect` with stand-ins for nvcc and nvdisasm that print what the real ones printed, without
// them, and with the real ones where they are here.
#include <nlohmann/json.hpp>

#include "tests/cli/cli_testing.h"

namespace rooftile::cli_testing {
namespace {

using Json = nlohmann::json;

const char* const kSymbol =
    "_ZN8rooftile4cuda12reduce_rungs53_GLOBAL__N__38df80a2_20_r60_multiple_adds_cu_adc74b2820multiple_adds_"
    "kernelINS1_3SumIfEEEEvPKflPf";

class InspectCommand : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    fs::create_directory(path("bin"));
    set("CUDA_HOME", path("bin"));  // a toolkit without anything in it
    unsetenv("CUDA_PATH");
    set("PATH", path("bin") + ":/usr/bin:/bin");
    set("COLUMNS", "200");
  }
  void set(const char* variable, const std::string& value) {
    ASSERT_EQ(setenv(variable, value.c_str(), 1), 0);
  }

  void stand_in(const std::string& name, const std::string& script) {
    const std::string file = path("bin/" + name);
    std::ofstream(file) << "#!/bin/sh\n" << script;
    fs::permissions(file, fs::perms::owner_all);
  }
  // Counts its calls in calls.txt; `report` is what ptxas says.
  void stand_in_nvcc(const std::string& report, const std::string& version = "13.0.88") {
    std::ofstream(path("report.txt")) << report;
    stand_in(
        "nvcc",
        "if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release 13.0, V" + version +
            "'; exit; fi\n"
            "echo \"$*\" >> " +
            path("calls.txt") +
            "\n"
            "while [ $# -gt 0 ]; do case $1 in -o) out=$2 ;; -MF) rule=$2 ;; esac; source=$1; shift; done\n"
            "echo code > \"$out\"; echo \"$out : $source\" > \"$rule\"; cat " +
            path("report.txt") + " >&2\n");
  }
  void stand_in_tools() {
    stand_in_nvcc(std::string("ptxas info    : Compiling entry function '") + kSymbol + "' for 'sm_90a'\n" +
                  "ptxas info    : Function properties for " + kSymbol + "\n" +
                  "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n" +
                  "ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem\n");
    const std::string root = fs::path(ROOFTILE_TESTS_DIR).parent_path().string();
    stand_in("nvdisasm",
             "sed 's|\"/src/|\"" + root + "/|g' " + ROOFTILE_TESTS_DIR + "/lab/sass/multiple_adds.sass\n");
  }
  int compilations() const {
    const std::string calls = read_file(path("calls.txt"));
    return static_cast<int>(std::count(calls.begin(), calls.end(), '\n'));
  }
  Json inspect(std::vector<std::string> args) const {
    args.insert(args.begin(), "inspect");
    args.insert(args.end(), {"--json", "-"});
    const Outcome outcome = run(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out, nullptr, false);
    EXPECT_TRUE(json.is_object()) << outcome.out;
    return json;
  }
};

TEST_F(InspectCommand, ShowsWhatCompilerAndDisassemblerKnow) {
  stand_in_tools();
  const Outcome outcome = run({"inspect", "reduce/multiple_adds", "--shape", "n=2^20"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words :
       {"reduce/multiple_adds for sm_90a on H200 (132 SMs): n=1048576,f32", "compiled by nvcc 13.0.88",
        "multiple_adds_kernel<Sum<float>>", "registers   40 per thread", "24 bytes of spill stores and 32",
        "16 bytes of local memory", "1 KiB static, none dynamic",
        "6 blocks per SM, 48 of 64 warps (75 %), bound by registers",
        "global load: 5 x LDG.E.CONSTANT (4 bytes)", "4 times: one load of r60_multiple_adds.cu:28"}) {
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << " is not in\n" << outcome.out;
  }
}

TEST_F(InspectCommand, WritesJson) {
  stand_in_tools();
  const Json json = inspect({"reduce/multiple_adds", "--shape", "n=2^20", "--gpu", "h100-pcie"});
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["kernel"], "reduce/multiple_adds");
  EXPECT_EQ(json["arch"], "sm_90a");
  EXPECT_EQ(json["gpu"]["multiprocessors"], 114);
  EXPECT_EQ(json["shape"]["n"], 1048576);
  EXPECT_EQ(json["source"], "rooftile/ops/reduce/rungs/r070_multiple_adds.cu");
  EXPECT_EQ(json["missing"], Json::array());
  ASSERT_EQ(json["kernels"].size(), 2u);
  const Json& kernel = json["kernels"][0];
  EXPECT_EQ(kernel["registers"], 40);
  EXPECT_EQ(kernel["assumed_registers"], nullptr);
  EXPECT_EQ(kernel["spill_store_bytes"], 24);
  EXPECT_EQ(kernel["spill_load_bytes"], 32);
  EXPECT_EQ(kernel["stack_bytes"], 16);
  EXPECT_EQ(kernel["static_shared_bytes"], 1024);
  EXPECT_EQ(kernel["occupancy"]["blocks_per_sm"], 6);
  EXPECT_EQ(kernel["occupancy"]["bound_by"], Json::array({"registers"}));
  EXPECT_EQ(kernel["waves"]["blocks_at_once"], 6 * 114);
  EXPECT_EQ(kernel["code"]["widest_global_load"], 4);
  EXPECT_EQ(kernel["code"]["mix"]["fma"], 5);
  EXPECT_EQ(kernel["code"]["loops"][1]["copies"], 4);
}

TEST_F(InspectCommand, CompilesOnce) {
  stand_in_tools();
  inspect({"reduce/multiple_adds"});
  inspect({"reduce/multiple_adds", "--shape", "n=2^20", "--registers", "32"});
  EXPECT_EQ(compilations(), 1);
  inspect({"reduce/multiple_adds", "--arch", "sm_80"});
  EXPECT_EQ(compilations(), 2);
  EXPECT_NE(read_file(path("calls.txt")).find("arch=compute_80,code=sm_80"), std::string::npos);
  stand_in_nvcc(read_file(path("report.txt")), "13.1.7");
  inspect({"reduce/multiple_adds"});
  EXPECT_EQ(compilations(), 3);
}

TEST_F(InspectCommand, PutsEveryArchitectureSideBySide) {
  stand_in_tools();
  const Json json = inspect({"reduce/multiple_adds", "--arch", "all", "--shape", "n=2^20"});
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["kernel"], "reduce/multiple_adds");
  ASSERT_EQ(json["archs"].size(), 11u);
  EXPECT_EQ(json["archs"][0]["arch"], "sm_75");
  EXPECT_EQ(json["archs"][0]["kernels"][0]["occupancy"]["blocks_per_sm"], 4);
  EXPECT_EQ(json["archs"][5]["arch"], "sm_90a");
  EXPECT_EQ(json["archs"][5]["kernels"][0]["occupancy"]["blocks_per_sm"], 6);
  EXPECT_EQ(compilations(), 11);
  const Outcome table = run({"inspect", "reduce/multiple_adds", "--arch", "all", "--shape", "n=2^20"});
  EXPECT_EQ(table.code, 0) << table.err;
  for (const char* words : {"sm_75", "T4", "sm_121", "DGX Spark"})
    EXPECT_NE(table.out.find(words), std::string::npos) << words << " is not in\n" << table.out;
  // One that serves a single architecture: the others say why.
  const Outcome other = run({"inspect", "transpose/tma", "--arch", "all", "--json", "-"});
  const Json archs = Json::parse(other.out)["archs"];
  EXPECT_NE(archs[0]["reason"].get<std::string>().find("sm_90a alone"), std::string::npos);
  EXPECT_FALSE(archs[5].contains("reason"));
}

TEST_F(InspectCommand, TakesRegistersOfTheCallers) {
  stand_in_tools();
  const Json kernel = inspect({"reduce/multiple_adds", "--registers", "128"})["kernels"][0];
  EXPECT_EQ(kernel["registers"], 40);
  EXPECT_EQ(kernel["assumed_registers"], 128);
  EXPECT_EQ(kernel["occupancy"]["blocks_per_sm"], 2);
}

TEST_F(InspectCommand, WithoutADisassemblerLeavesTheCodeOut) {
  stand_in_tools();
  fs::remove(path("bin/nvdisasm"));
  const Json json = inspect({"reduce/multiple_adds"});
  EXPECT_EQ(json["kernels"][0]["registers"], 40);
  EXPECT_EQ(json["kernels"][0]["code"], nullptr);
  ASSERT_EQ(json["missing"].size(), 1u);
  EXPECT_NE(json["missing"][0].get<std::string>().find("nvdisasm is not here"), std::string::npos);
  stand_in("nvdisasm", "echo 'nvdisasm fatal   : File is of a newer kind' >&2; exit 255\n");
  EXPECT_NE(inspect({"reduce/multiple_adds"})["missing"][0].get<std::string>().find("newer kind"),
            std::string::npos);
}

TEST_F(InspectCommand, WithoutACompilerShowsTheLaunch) {
  set("PATH", path("bin"));
  const Outcome outcome = run({"inspect", "reduce/multiple_adds"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.out.find("at most 8 blocks per SM"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("nvcc is not here"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  const Json json = inspect({"reduce/multiple_adds", "--registers", "128"});
  EXPECT_EQ(json["kernels"][0]["registers"], nullptr);
  EXPECT_EQ(json["kernels"][0]["occupancy"]["blocks_per_sm"], 2);
  EXPECT_EQ(json["missing"].size(), 1u);
}

// Nobody may run it; its launch and its code are there to be seen.
TEST_F(InspectCommand, LooksAtARungThatIsWrongOnPurpose) {
  set("PATH", path("bin"));
  const Outcome outcome = run({"inspect", "access_count/unguarded", "--registers", "26"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("wrong on purpose: a race"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("unguarded_kernel"), std::string::npos) << outcome.out;
}

TEST_F(InspectCommand, SaysWhatACompilerSays) {
  stand_in("nvcc",
           "echo 'release 11.8, V11.8.89'; [ \"$1\" = --version ] && exit\n"
           "echo \"nvcc fatal   : Unsupported gpu architecture 'compute_120'\" >&2; exit 1\n");
  const Outcome outcome = run({"inspect", "reduce/multiple_adds", "--arch", "sm_120"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("Unsupported gpu architecture 'compute_120'"), std::string::npos) << outcome.err;
  EXPECT_TRUE(!fs::exists(path("cache/rooftile/kernels")) || fs::is_empty(path("cache/rooftile/kernels")));
  // A source that has changed since this program was built.
  stand_in_nvcc("ptxas info    : Compiling entry function '_Z1kv' for 'sm_90a'\n");
  const Outcome other = run({"inspect", "reduce/multiple_adds"});
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("has no kernel reduce_rungs::multiple_adds_kernel"), std::string::npos)
      << other.err;
}

TEST_F(InspectCommand, ExplainsWrongCalls) {
  const std::string rung = "reduce/multiple_adds";
  expect_error(2, "inspect takes one rung, as in reduce/", {"inspect", "reduce"});
  expect_error(2, "did you mean", {"inspect", "reduce/multiple_add"});
  expect_error(2, "runs on the CPU alone", {"inspect", "reduce/serial"});
  expect_error(2, "choose one of sm_75", {"inspect", rung, "--arch", "sm_70"});
  expect_error(2, "choose one of t4", {"inspect", rung, "--gpu", "h300"});
  expect_error(2, "--gpu a100 is sm_80, and not sm_90a",
               {"inspect", rung, "--gpu", "a100", "--arch", "sm_90a"});
  expect_error(2, "leave it out with --arch all", {"inspect", rung, "--gpu", "a100", "--arch", "all"});
  expect_error(2, "column_tiles", {"inspect", "reduce/column_tiles", "--arch", "all", "--shape", "n=7"});
  expect_error(2, "--registers '0' is not a number from 1 to 255", {"inspect", rung, "--registers", "0"});
  expect_error(2, "instructions are those of sm_90a alone",
               {"inspect", "transpose/tma", "--arch", "sm_100a"});
  expect_error(2, "unknown shape key", {"inspect", rung, "--shape", "q=3"});
}

// With the real nvcc: both compilers' names of a kernel meet.
TEST_F(InspectCommand, TheRealCompilerKnowsTheLaunchedKernels) {
  unsetenv("CUDA_HOME");
  if (run({"inspect", "reduce/warp_shuffle"}).code == 3) GTEST_SKIP() << "no nvcc here";
  const std::vector<std::vector<std::string>> calls = {
      {"reduce/warp_shuffle"},
      {"reduce/warp_per_row", "--shape", "m=4096,n=64", "--arg", "axes=1", "--dtype", "bf16"},
      {"transpose/swizzled", "--dtype", "f16", "--arch", "sm_80"},
      {"transpose/tma"}};
  for (const std::vector<std::string>& call : calls) {
    const Json json = inspect(call);
    ASSERT_FALSE(json["kernels"].empty()) << call[0];
    for (const Json& kernel : json["kernels"]) {
      EXPECT_GT(kernel["registers"].get<int>(), 8) << call[0];
      EXPECT_GT(kernel["occupancy"]["blocks_per_sm"].get<int>(), 0) << call[0];
    }
  }
}

}  // namespace
}  // namespace rooftile::cli_testing
