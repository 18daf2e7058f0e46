// The built program as a subprocess: exit codes, one-line messages, JSON, files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rooftile/core/device.h"
#include "rooftile/core/npy.h"
#include "tests/cli/cli_testing.h"

namespace rooftile::cli_testing {
namespace {

using Json = nlohmann::json;

class Cli : public CliTest {
 protected:
  std::string write_tensor(const std::string& name, DType dtype, std::vector<double> values) const {
    Result<HostTensor> tensor = HostTensor::create(dtype, Extents{static_cast<std::int64_t>(values.size())});
    EXPECT_TRUE(tensor.ok());
    for (std::size_t i = 0; i < values.size(); ++i) tensor->set(static_cast<std::int64_t>(i), values[i]);
    EXPECT_TRUE(write_npy(path(name), tensor->view()).ok());
    return path(name);
  }
};

TEST_F(Cli, HelpHasExamples) {
  for (const std::string command : {"list", "show", "ladder", "run", "verify", "sim", "inspect", "profile",
                                    "device", "verdicts", "table"}) {
    const Outcome outcome = run({command, "--help"});
    EXPECT_EQ(outcome.code, 0) << command;
    EXPECT_NE(outcome.out.find("rooftile " + command), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_EQ(run({"--help"}).code, 0);
  EXPECT_EQ(run({"--version"}).code, 0);
}

TEST_F(Cli, WrongCalls) {
  expect_error(2, "no command", {});
  expect_error(2, "did you mean 'ladder'?", {"laddr", "reduce"});
  expect_error(2, "did you mean '--shape'?", {"ladder", "reduce", "--shap", "n=1"});
  expect_error(2, "OP is required", {"ladder"});
  expect_error(2, "--json", {"ladder", "reduce", "--json"});
  expect_error(2, "not expected", {"show", "reduce", "again"});
  expect_error(2, "unknown option '--jsn'", {"--jsn"});
  expect_error(2, "it is empty", {"verify", ""});
  expect_error(2, "it is empty", {"ladder", "reduce", "--rungs", ""});
  expect_error(2, "not in range 1 to", {"verify", "reduce", "--every", "0"});
  expect_error(2, "op is given twice", {"ladder", "reduce", "--arg", "op=max", "--arg", "op=min"});
  for (const std::string command : {"show", "ladder", "verify"})
    expect_error(2, "reduce", {command, "redcue"});
  expect_error(2, "warp_shuffle", {"ladder", "reduce", "--rungs", "warp_shufle"});
  expect_error(2, "warp_shuffle", {"verify", "reduce", "--rung", "warp_shufle"});
  expect_error(2, "bf16", {"ladder", "reduce", "--dtype", "f31"});
  expect_error(2, "f32", {"ladder", "reduce", "--dtype", "f8e4m3"});
  expect_error(2, "op", {"ladder", "reduce", "--arg", "opp=max"});
  expect_error(2, "sum, mean", {"ladder", "reduce", "--arg", "op=product"});
  expect_error(2, "name=value", {"ladder", "reduce", "--arg", "op"});
  expect_error(2, "cpu", {"ladder", "reduce", "--device", "gpu"});
  expect_error(2, "stream-cold", {"ladder", "reduce", "--mode", "warm"});
  expect_error(2, "graph-cold", {"ladder", "reduce", "--mode", "graph"});
  expect_error(2, "needs a GPU",
               {"ladder", "reduce", "--mode", "graph-hot", "--device", "cpu", "--shape", "n=9"});
  expect_error(2, "from 1 to", {"verdicts", "reduce", "--runs", "0"});
  expect_error(2, "has no time", {"verdicts", "reduce", "--device", "sim"});
  expect_error(2, "serial", {"verdicts", "reduce", "--rung", "seriall", "--device", "cpu"});
  expect_error(2, "does not run on cpu", {"verdicts", "reduce", "--rung", "single_pass", "--device", "cpu"});
  expect_error(2, "choose quick", {"verify", "reduce", "--tier", "tiny"});
  expect_error(2, "--every", {"verify", "reduce", "--every", "0"});
  expect_error(2, "forward", {"verify", "reduce", "--device", "sim", "--sim-order", "sideways"});
  expect_error(2, "no check matches", {"verify", "reduce", "--rung", "threaded", "--device", "sim"});
  expect_error(2, "runs on cpu", {"ladder", "reduce", "--rungs", "warp_shuffle", "--device", "cpu"});
}

TEST_F(Cli, WrongShapes) {
  expect_error(2, "key=count", {"ladder", "reduce", "--shape", "n"});
  expect_error(2, "unknown shape key 'h': this operator takes one of n | m,n | b,m,n",
               {"ladder", "reduce", "--shape", "h=5"});
  expect_error(2, "the shape has m but no n", {"ladder", "reduce", "--shape", "m=3"});
  expect_error(2, "the shape has m but no n", {"verify", "transpose", "--shape", "m=3"});
  expect_error(2, "2^20", {"ladder", "reduce", "--shape", "n=abc"});
  expect_error(2, "negative", {"ladder", "reduce", "--shape", "n=-5"});
  expect_error(2, "2^62", {"ladder", "reduce", "--shape", "n=2^64"});
  expect_error(2, "63 bits", {"ladder", "reduce", "--shape", "n=2^62"});
  expect_error(3, "smaller --shape", {"ladder", "reduce", "--shape", "n=2^50"});
  expect_error(3, "smaller --shape", {"verify", "reduce", "--shape", "n=2^50", "--device", "cpu"});
  expect_error(2, "simulated SM takes up to", {"verify", "reduce", "--shape", "n=2^28", "--device", "sim"});
  expect_error(2, "at least one element", {"ladder", "reduce", "--shape", "n=0", "--arg", "op=max"});
  expect_error(2, "0 to 255", {"ladder", "reduce", "--shape", "n=8", "--offset", "-1"});
}

TEST_F(Cli, AGpuThatIsNotThere) {
  if (cuda_availability().ok()) GTEST_SKIP() << "this machine has a GPU";
  for (const std::string command : {"ladder", "verify"}) {
    expect_error(3, cuda_availability().sentence(), {command, "reduce", "--device", "cuda"});
    expect_error(3, "--device cpu", {command, "reduce", "--device", "cuda:1"});
  }
  expect_error(3, "--device cuda",
               {"run", "reduce", "--device", "cuda", "--in", path("x.npy"), "--out", path("y.npy")});
}

TEST_F(Cli, ListJson) {
  const Outcome outcome = run({"list", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["schema"], 1);
  bool has_reduce = false;
  for (const Json& op : json["operators"]) {
    has_reduce = has_reduce || op["name"] == "reduce";
    ASSERT_FALSE(op["rungs"].empty());
    for (const Json& rung : op["rungs"]) {
      for (const char* key : {"id", "kind", "idea", "available", "reason"})
        EXPECT_TRUE(rung.contains(key)) << key;
      for (const char* key : {"cuda", "cpu", "sim"}) EXPECT_TRUE(rung["available"][key].is_boolean()) << key;
    }
  }
  EXPECT_TRUE(has_reduce);
  EXPECT_EQ(run({"list"}).code, 0);
  EXPECT_NE(run({"show", "reduce"}).out.find("single_pass"), std::string::npos);
  EXPECT_NE(
      run({"show", "transpose", "--shape", "m=0,n=3"}).out.find("nothing is written, and no rung launched"),
      std::string::npos);
}

// With a shape: which rung a call gets on a GPU that is not here and on this CPU, and why the others do not serve it.
TEST_F(Cli, ShowOfACall) {
  const Outcome large = run({"show", "transpose", "--shape", "m=4096,n=4096"});
  ASSERT_EQ(large.code, 0) << large.err;
  EXPECT_NE(large.out.find("on H200: vectorized"), std::string::npos) << large.out;
  EXPECT_NE(large.out.find("on this machine's CPU: "), std::string::npos) << large.out;
  const Outcome odd = run({"show", "transpose", "--shape", "m=4097,n=4099", "--dtype", "u8"});
  EXPECT_NE(odd.out.find("on H200: shifted_tiles"), std::string::npos) << odd.out;
  // An architecture without the instructions, and no memory for 64 GiB.
  const Outcome old = run({"show", "reduce", "--shape", "n=2^34", "--gpu", "t4"});
  ASSERT_EQ(old.code, 0) << old.err;
  EXPECT_NE(old.out.find("needs sm_90a, this is sm_75"), std::string::npos) << old.out;
  expect_error(2, "unknown GPU", {"show", "reduce", "--gpu", "h900"});
  expect_error(2, "key=count", {"show", "reduce", "--shape", "n"});
}

TEST_F(Cli, LadderOnCpuAndSim) {
  const Outcome cpu =
      run({"ladder", "reduce", "--device", "cpu", "--shape", "n=100003", "--budget", "0.2", "--json", "-"});
  ASSERT_EQ(cpu.code, 0) << cpu.err;
  EXPECT_EQ(cpu.err, "");
  const Json timed = Json::parse(cpu.out);
  EXPECT_EQ(timed["operator"], "reduce");
  EXPECT_EQ(timed["results"][0]["case"]["shape"]["n"], 100003);
  for (const Json& row : timed["results"][0]["rows"]) {
    EXPECT_EQ(row["status"], "ok");
    EXPECT_EQ(row["verified"], true);
    EXPECT_GT(row["time_us"]["median"].get<double>(), 0.0);
  }
  EXPECT_EQ(timed["results"][0]["rows"].back()["kind"], "bound");

  const Outcome sim =
      run({"ladder", "reduce", "--device", "sim", "--shape", "n=1025", "--json", path("sim.json")});
  ASSERT_EQ(sim.code, 0) << sim.err;
  EXPECT_NE(sim.out.find("simulated"), std::string::npos);
  const Json simulated = Json::parse(read_file(path("sim.json")));
  ASSERT_FALSE(simulated["results"][0]["rows"].empty());
  int verified = 0;
  for (const Json& row : simulated["results"][0]["rows"]) {
    EXPECT_EQ(row["device"], "sim");
    EXPECT_TRUE(row["time_us"].is_null());
    if (row["status"] == "skipped") {
      EXPECT_NE(row["reason"], "");
      continue;
    }
    EXPECT_EQ(row["status"], "ok");
    EXPECT_EQ(row["verified"], true);
    EXPECT_EQ(row["reason"], "simulated");
    ++verified;
  }
  EXPECT_GE(verified, 10);
}

TEST_F(Cli, TablesAreWrittenAndChecked) {
  expect_error(2, "--root", {"table", "--root", folder_.string()});
  const fs::path folder = folder_ / "rooftile" / "ops" / "reduce";
  fs::create_directories(folder);
  const std::vector<std::string> check = {"table", "reduce", "--check", "--root", folder_.string()};
  expect_error(2, "cannot read rooftile/ops/reduce/README.md", check);
  std::ofstream(folder / "README.md") << "# reduce\n";
  expect_error(2, "<!-- generated: reduce -->", check);
  std::ofstream(folder / "README.md") << "# reduce\n<!-- generated: reduce -->\n<!-- end generated -->\n";
  std::ofstream(folder_ / "README.md") << "<!-- generated: summary -->\n<!-- end generated -->\n";
  expect_error(1, "rooftile/ops/reduce/README.md, README.md", check);
  const Outcome written = run({"table", "--root", folder_.string(), "reduce"});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_NE(read_file(folder / "README.md").find("No record yet"), std::string::npos);
  EXPECT_EQ(run(check).code, 0);
  EXPECT_EQ(run({"table", "--root", folder_.string(), "reduce"}).out, "");

  fs::create_directories(folder_ / "results" / "here");
  const Outcome ladder = run({"ladder", "reduce", "--device", "cpu", "--shape", "n=100003", "--budget", "0.2",
                              "--json", path("results/here/reduce.json")});
  ASSERT_EQ(ladder.code, 0) << ladder.err;
  expect_error(1, "README.md", check);
  EXPECT_EQ(run({"table", "reduce", "--root", folder_.string()}).code, 0);
  const std::string readme = read_file(folder / "README.md");
  EXPECT_NE(readme.find("n=100003, f32"), std::string::npos) << readme;
  EXPECT_NE(readme.find("| **threaded** |"), std::string::npos) << readme;
  EXPECT_NE(readme.find("](climb.svg)"), std::string::npos) << readme;
  EXPECT_NE(read_file(folder_ / "README.md").find("| threaded |"), std::string::npos);
  EXPECT_EQ(run(check).code, 0);

  const fs::path drawing = folder / "climb.svg";
  const std::string drawn = read_file(drawing);
  std::ofstream(drawing, std::ios::app) << " ";
  expect_error(1, "rooftile/ops/reduce/climb.svg", check);
  fs::remove(drawing);
  expect_error(1, "rooftile/ops/reduce/climb.svg", check);
  EXPECT_EQ(run({"table", "reduce", "--root", folder_.string()}).out, "rooftile/ops/reduce/climb.svg\n");
  EXPECT_EQ(read_file(drawing), drawn);

  // A drawing whose records are gone.
  fs::remove_all(folder_ / "results");
  expect_error(1, "rooftile/ops/reduce/climb.svg", check);
  EXPECT_EQ(run({"table", "reduce", "--root", folder_.string()}).code, 0);
  EXPECT_FALSE(fs::exists(drawing));
  EXPECT_EQ(run(check).code, 0);
}

TEST_F(Cli, ATableOfAllOperatorsIsLeftAloneByAProgramThatHasNotAll) {
  fs::create_directories(folder_ / "rooftile" / "ops" / "not_in_this_program");
  const std::string before = "<!-- generated: summary -->\nkept\n<!-- end generated -->\n";
  std::ofstream(folder_ / "README.md") << before;
  fs::create_directories(folder_ / "rooftile" / "ops" / "reduce");
  std::ofstream(folder_ / "rooftile" / "ops" / "reduce" / "README.md")
      << "<!-- generated: reduce -->\n<!-- end generated -->\n";
  const Outcome outcome = run({"table", "reduce", "--root", folder_.string()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("without not_in_this_program"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_file(folder_ / "README.md"), before);
}

TEST_F(Cli, LaddersAreGatheredInOneRecord) {
  const std::vector<std::string> ladder = {"ladder", "reduce", "--device",       "cpu",      "--budget",
                                           "0.1",    "--json", path("all.json"), "--append", "--shape"};
  for (const char* shape : {"n=1000", "n=2000", "n=1000"}) {
    std::vector<std::string> args = ladder;
    args.emplace_back(shape);
    const Outcome outcome = run(args);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  const Json json = Json::parse(read_file(path("all.json")));
  ASSERT_EQ(json["results"].size(), 2u);
  EXPECT_EQ(json["results"][0]["command"], "rooftile ladder reduce --device cpu --budget 0.1 --shape n=1000");
  std::ofstream(path("all.json")) << "{}";
  std::vector<std::string> args = ladder;
  args.emplace_back("n=1000");
  expect_error(2, "not a ladder of schema 1 or 2", args);
  expect_error(2, "--append", {"ladder", "reduce", "--device", "cpu", "--append"});
}

TEST_F(Cli, VerdictsAreCounted) {
  const Outcome outcome = run({"verdicts", "reduce", "--rung", "serial", "--device", "cpu", "--mode",
                               "stream-hot", "--shape", "n=2^15", "--runs", "3", "--json", "-"});
  ASSERT_TRUE(outcome.code == 0 || outcome.code == 1) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["finding"].get<std::string>().empty(), outcome.code == 0);
  for (const char* kind : {"a_a", "a_b"}) {
    const Json& counts = json[kind];
    EXPECT_EQ(counts["runs"], 3);
    EXPECT_EQ(counts["faster"].get<int>() + counts["slower"].get<int>() + counts["same"].get<int>() +
                  counts["insufficient"].get<int>(),
              3);
  }
  EXPECT_EQ(json["b"]["shape"]["n"], 33751);
}

TEST_F(Cli, VerdictsEndWhereTheirGateIsMissed) {
  const Outcome outcome =
      run({"verdicts", "reduce", "--rung", "serial", "--device", "cpu", "--mode", "stream-hot", "--shape",
           "n=2^15", "--runs", "60", "--budget", "0.01", "--difference", "0.001", "--json", "-"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["a_b"]["runs"], 25);
  EXPECT_LT(json["a_b"]["faster"], 19);  // else 54 of 60 could still be found
  EXPECT_NE(outcome.err.find("trial 2 of at most 3 missed its gate: "), std::string::npos) << outcome.err;
  EXPECT_GT(json["a_a"]["lowest_ratio"], 0.5);
}

TEST_F(Cli, EmptyOneElementAndMisalignedAreDefined) {
  for (const std::string shape : {"n=0", "n=1", "n=1025"}) {
    for (const std::string device : {"cpu", "sim"}) {
      const Outcome outcome =
          run({"ladder", "reduce", "--shape", shape, "--offset", "1", "--device", device, "--budget", "0.1"});
      EXPECT_EQ(outcome.code, 0) << shape << " " << device << "\n" << outcome.out << outcome.err;
    }
  }
}

TEST_F(Cli, OutputThatIsLostIsAnError) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"list"}, {"--help"}, {"list", "--json", "-"}}) {
    const Outcome outcome = run_into("/dev/full", args);
    EXPECT_EQ(outcome.code, 2) << args[0];
    EXPECT_EQ(outcome.err, "rooftile: cannot write to stdout\n") << args[0];
  }
}

TEST_F(Cli, AJsonFileThatCannotBeWritten) {
  const Outcome outcome =
      run({"ladder", "reduce", "--device", "sim", "--shape", "n=33", "--json", path("no/x.json")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(run({"list", "--json", "/dev/full"}).code, 2);
}

TEST_F(Cli, VerifyJson) {
  const Outcome outcome = run({"verify", "reduce", "--device", "cpu", "--tier", "quick", "--json", "-"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_GT(json["passed"], 0);
  EXPECT_EQ(json["failed"], 0);
  EXPECT_TRUE(json["skipped"].is_array() && json["failures"].is_array());
  EXPECT_EQ(run({"verify", "reduce", "--rung", "reduce/single_pass", "--device", "sim", "--shape", "n=1025",
                 "--dtype", "f32", "--arg", "op=sum", "--fill", "uniform", "--offset", "1", "--seed", "1"})
                .code,
            0);
}

TEST_F(Cli, VerifyTakesASampleOfTheCases) {
  const auto checks = [this](const std::string& every) {
    const Outcome outcome = run({"verify", "reduce", "--device", "cpu", "--tier", "quick", "--dtype", "i8",
                                 "--every", every, "--json", "-"});
    return outcome.code == 0 ? Json::parse(outcome.out)["cases"].get<int>() : 0;
  };
  const int all = checks("1");
  ASSERT_GT(all, 20);
  EXPECT_NEAR(checks("10"), all / 10.0, 3);
}

TEST_F(Cli, AnUnservedCaseIsNoPass) {
  const Outcome outcome =
      run({"verify", "reduce", "--rung", "warp_shuffle", "--device", "sim", "--dtype", "i32"});
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("nothing is proved"), std::string::npos);
}

TEST_F(Cli, RunOnTheUsersData) {
  const std::string in = write_tensor("x.npy", DType::f32, {1.0, 2.5, -4.0, 8.0});
  const std::string out = path("y.npy");
  for (const std::string device : {"cpu", "sim"}) {
    const Outcome outcome = run({"run", "reduce", "--in", in, "--out", out, "--device", device});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Result<HostTensor> sum = read_npy(out);
    ASSERT_TRUE(sum.ok()) << sum.status().message();
    EXPECT_EQ(sum->at(0), 7.5);
  }
  ASSERT_EQ(run({"run", "reduce", "--arg", "op=max", "--rung", "threaded", "--in", in, "--out", out}).code,
            0);
  EXPECT_EQ(read_npy(out)->at(0), 8.0);
  ASSERT_EQ(run({"run", "reduce", "--in", write_tensor("e.npy", DType::f32, {}), "--out", out}).code, 0);
  EXPECT_EQ(read_npy(out)->at(0), 0.0);
}

TEST_F(Cli, RunRejectsBadFiles) {
  const std::string good = write_tensor("x.npy", DType::f32, {1.0, 2.0, 3.0, 4.0});
  const std::string out = path("y.npy");
  expect_error(2, "--in is required", {"run", "reduce", "--out", out});
  expect_error(2, "No such file", {"run", "reduce", "--in", path("none.npy"), "--out", out});
  expect_error(2, "1 --in file", {"run", "reduce", "--in", good, "--in", good, "--out", out});
  expect_error(2, "1 --in file", {"run", "reduce", "--in", good, good, "--out", out});
  expect_error(2, "in has no axis 3", {"run", "reduce", "--arg", "axes=3", "--in", good, "--out", out});
  expect_error(
      2, "at least one element",
      {"run", "reduce", "--arg", "op=max", "--in", write_tensor("e.npy", DType::f32, {}), "--out", out});
  expect_error(2, "serial", {"run", "reduce", "--rung", "serialy", "--in", good, "--out", out});

  const std::string bytes = read_file(good);
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{20}, bytes.size() - 1}) {
    std::ofstream(path("cut.npy"), std::ios::binary) << bytes.substr(0, size);
    expect_error(2, "cut.npy", {"run", "reduce", "--in", path("cut.npy"), "--out", out});
  }
  std::string hostile = bytes;
  const std::size_t shape = hostile.find("(4,)");
  ASSERT_NE(shape, std::string::npos);
  hostile.replace(shape, 14, "(999999999999)");
  std::ofstream(path("hostile.npy"), std::ios::binary) << hostile;
  expect_error(2, "hostile.npy", {"run", "reduce", "--in", path("hostile.npy"), "--out", out});
  expect_error(2, "x.npy", {"run", "reduce", "--in", "\n\033[31mx.npy", "--out", out});
  EXPECT_FALSE(fs::exists(out));
  const Outcome nowhere = run({"run", "reduce", "--in", good, "--out", path("no/y.npy")});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_EQ(nowhere.out, "");
}

TEST_F(Cli, DeviceJson) {
  const auto device = [this](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"device", "--json", "-"};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome outcome = run(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["cuda"]["available"], cuda_availability().ok());
    for (const Json& entry : json["devices"]) {
      if (entry["device"] == "cpu") return entry;
    }
    return Json();
  };
  const Json first = device({});
  ASSERT_GE(first["measured"].size(), 3u);
  for (const Json& rate : first["measured"]) EXPECT_GT(rate["gbps"].get<double>(), 0.0) << rate.dump();
  EXPECT_EQ(first["measured_now"], true);
  const std::string kept = path("cache/rooftile/") + first["measured_file"].get<std::string>();
  EXPECT_TRUE(fs::exists(kept)) << kept;
  const Json second = device({});
  EXPECT_EQ(second["measured_now"], false);
  EXPECT_EQ(second["measured"], first["measured"]);
  EXPECT_EQ(device({"--measure"})["measured_now"], true);
  std::ofstream(kept) << "{\"version\":1,";
  EXPECT_EQ(device({})["measured_now"], true);
  EXPECT_EQ(device({})["measured_now"], false);  // the damaged file was replaced
  EXPECT_NE(run({"device"}).out.find("from " + kept), std::string::npos);
}

TEST_F(Cli, SimShowsEveryLineBesideItsNumbers) {
  const Outcome outcome = run({"sim", "reduce/interleaved_strided", "--shape", "n=4096"});
  if (lacks_instrumented_kernels(outcome)) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words :
       {"r020_interleaved_strided.cu:", "if (at < kBlock) s_values[at] =", "8-way at worst",
        "interleaved_strided_kernel: 2 launches, 17 blocks of 256 threads", "never predicted time",
        "checked: right, no race"}) {
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << " is not in\n" << outcome.out;
  }
}

TEST_F(Cli, SimWritesJson) {
  const Outcome outcome = run({"sim", "reduce/interleaved_divergent", "--shape", "n=65536", "--json", "-"});
  if (lacks_instrumented_kernels(outcome)) GTEST_SKIP() << outcome.err;
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["kernel"], "reduce/interleaved_divergent");
  EXPECT_EQ(json["shape"]["n"], 65536);
  EXPECT_EQ(json["verified"], true);
  const Json& totals = json["totals"];
  EXPECT_EQ(totals["global_load_sectors_per_request"], 4.0);
  EXPECT_EQ(totals["shared_load_conflict_degree"], 1.0);
  EXPECT_EQ(totals["shared_store_conflict_degree"], 1.0);
  EXPECT_EQ(totals["bytes_needed"], 4.0 * 65536 + 4);
  // 256 blocks and one more; each has 8 loading requests of 32 lanes, 47 in the tree with 255 lanes, and one
  // sum.
  EXPECT_DOUBLE_EQ(totals["active_lanes_per_request"], 1279.0 / 159);
  EXPECT_EQ(json["reports"], Json::array());
  EXPECT_EQ(json["lines"][0]["file"], "rooftile/ops/reduce/rungs/r010_interleaved_divergent.cu");
  EXPECT_EQ(json["lines"][0]["kind"], "global_load");
}

TEST_F(Cli, SimExplainsWrongCalls) {
  expect_error(2, "sim takes one rung, as in reduce/", {"sim", "reduce"});
  expect_error(2, "did you mean", {"sim", "reduce/interleaved_stridet"});
  expect_error(2, "runs on the CPU alone", {"sim", "reduce/serial"});
  expect_error(2, "the simulated SM takes up to 64 MiB", {"sim", "reduce/vectorized", "--shape", "n=2^30"});
}

}  // namespace
}  // namespace rooftile::cli_testing
