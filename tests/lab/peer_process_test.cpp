// A peer in a process of its own, played by a script: what it says, how it fails, and its row of a ladder.
#include "rooftile/lab/peer_process/peer_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "rooftile/lab/ladder/json_report.h"
#include "rooftile/lab/ladder/ladder.h"
#include "tests/lab/fake_operator.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

// Answers each request as the file of its name beside the script does, or else as a peer that is right.
constexpr const char* kChild = R"(
here=$(dirname "$0") folder=$1
echo "$folder" >"$here/folder_name"
echo $$ >"$here/process_id"
say() { echo "{\"id\": $id, $1}"; }
while read -r line; do
  [[ $line =~ \"id\":([0-9]+) ]] && id=${BASH_REMATCH[1]}
  [[ $line =~ \"request\":\"([a-z]+)\" ]] && what=${BASH_REMATCH[1]}
  if [ -e "$here/$what" ]; then . "$here/$what"; continue; fi
  case $what in
    hello) say '"ok": {"version": "fake 1.0"}' ;;
    prepare) say '"ok": {"peers": {"torch": ""}}' ;;
    run) cp "$here/right" "$folder/y.out"; say '"ok": {}' ;;
    time) say '"ok": {"us": 5.5}' ;;
    *) say '"ok": {}' ;;
  esac
done
rm -rf "$folder"
)";

class PeerProcessTest : public testing::Test {
 protected:
  PeerProcessTest()
      : folder_(fs::temp_directory_path() / ("rooftile_peer_test_" + std::to_string(getpid()))),
        op_(test::make_fake("fake", {test::fake_rung("right", test::Bug::none)})),
        cases_(test::make_fake_cases("fake")) {
    fs::create_directories(folder_);
    answer("torch_child.py", kChild);
    program_ = {.python = "/bin/bash", .folder = folder_.string(), .limit_s = 20};
  }
  ~PeerProcessTest() override { fs::remove_all(folder_); }

  void answer(const char* request, const std::string& script) const {
    std::ofstream(folder_ / request) << script << "\n";
  }
  [[nodiscard]] std::string told(const char* name) const {
    std::string text;
    std::getline(std::ifstream(folder_ / name), text);
    return text;
  }
  [[nodiscard]] Result<PeerProcess> start() const {
    return PeerProcess::start(program_, **device_properties(kCpu), 1000);
  }
  void expect_no_start(const std::string& words, StatusCode code) const {
    const Result<PeerProcess> peer = start();
    ASSERT_FALSE(peer.ok());
    EXPECT_EQ(peer.status().code(), code);
    EXPECT_NE(peer.status().sentence().find(words), std::string::npos) << peer.status();
  }
  // The ladder of 1000 elements, for which the script has the right result.
  [[nodiscard]] LadderReport climb(TimeMode mode = TimeMode::stream_hot, bool in_place = false) {
    HostProblem host = HostProblem::create(op_, cases_, test::fake_case(1000, DType::f32)).value();
    std::ofstream right(folder_ / "right", std::ios::binary);
    for (const float x : (*host.inputs().value())[0].as<float>()) {
      const float y = 2 * x;
      right.write(reinterpret_cast<const char*>(&y), sizeof(y));
    }
    right.close();
    Registry registry;
    registry.add(op_);
    registry.add(cases_);
    LadderOptions options;
    options.request.shape = {{"n", "1000"}};
    options.request.in_place = in_place;
    options.devices = {kCpu};
    options.modes = {mode};
    options.torch = program_;
    options.timing.max_rounds = 60;
    return run_ladder(registry, op_, options).value();
  }
  static const LadderRow& row_of(const LadderReport& report, std::string_view name) {
    for (const LadderRow& row : report.results.at(0).rows) {
      if (row.rung == name) return row;
    }
    ADD_FAILURE() << "no row " << name;
    return report.results.at(0).rows.at(0);
  }
  void expect_failed(const std::string& words) {
    const LadderReport report = climb();
    const LadderRow& torch = row_of(report, "torch");
    EXPECT_EQ(torch.status, RowStatus::failed);
    EXPECT_FALSE(torch.verified || torch.time);
    EXPECT_NE(torch.reason.find(words), std::string::npos) << torch.reason;
    EXPECT_TRUE(row_of(report, "right").time);
    EXPECT_FALSE(row_of(report, "right").ratio_to_peer);
  }

  fs::path folder_;
  OperatorDescriptor op_;
  OperatorCases cases_;
  PeerProgram program_;
};

TEST_F(PeerProcessTest, SaysWhatItIs) {
  const Result<PeerProcess> peer = start();
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(peer->version(), "fake 1.0");
}

TEST_F(PeerProcessTest, SaysWhyThereIsNone) {
  answer("hello", R"(say '"unsupported": "no torch"')");
  expect_no_start("no torch", StatusCode::unsupported);
  program_.python = "/nowhere/python3";
  expect_no_start("there is no 'python3'", StatusCode::unavailable);
  program_.python = "/bin/bash";
  program_.folder = "/nowhere";
  expect_no_start("no peers/torch_child.py beside this program", StatusCode::unavailable);
}

TEST_F(PeerProcessTest, AChildThatDiesSaysHow) {
  answer("hello", "echo first >&2; echo 'the reason' >&2; exit 3");
  expect_no_start("the process died (exit code 3: the reason)", StatusCode::unavailable);
  answer("hello", "kill -SEGV $$");
  expect_no_start("the process died (signal 11)", StatusCode::unavailable);
}

TEST_F(PeerProcessTest, AChildThatHangsIsEnded) {
  program_.limit_s = 0.3;
  answer("hello", "sleep 1000");
  const auto begin = std::chrono::steady_clock::now();
  expect_no_start("the process did not answer within 0.3 s", StatusCode::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_NE(kill(std::stoi(told("process_id")), 0), 0);
  EXPECT_FALSE(fs::exists(told("folder_name")));
}

TEST_F(PeerProcessTest, AnswersThatMakeNoSense) {
  for (const char* nonsense : {"echo no json", "echo 3", "echo '{}'", R"(echo '{"id": 99, "ok": {}}')",
                               "say '\"ok\": 3'", "say '\"ok\": {}'", "say '\"ok\": {\"version\": 2}'",
                               "say '\"error\": 3'", R"(printf '\xff\xfe\n')"}) {
    answer("hello", nonsense);
    expect_no_start("the process answered nonsense to 'hello'", StatusCode::unavailable);
  }
  answer("hello", "head -c 2000000 /dev/zero; sleep 1000");
  expect_no_start("a line that does not end", StatusCode::unavailable);
}

TEST_F(PeerProcessTest, ALimitThatIsNone) {
  program_.limit_s = 0;
  setenv("ROOFTILE_PEER_SECONDS", "soon", 1);
  expect_no_start("ROOFTILE_PEER_SECONDS is 'soon'", StatusCode::invalid_argument);
  unsetenv("ROOFTILE_PEER_SECONDS");
}

TEST_F(PeerProcessTest, AfterItsEndEveryRequestSaysWhy) {
  answer("hello", R"(say '"ok": {"version": "short"}'; exit 0)");
  Result<PeerProcess> peer = start();
  ASSERT_TRUE(peer.ok()) << peer.status();
  for (int i = 0; i < 3; ++i) {
    const Status status = peer->prepare_copy(8);
    EXPECT_NE(status.sentence().find("the process died (exit code 0)"), std::string::npos) << status;
  }
}

TEST_F(PeerProcessTest, ItsFilesAreGoneWithIt) {
  {
    const Result<PeerProcess> peer = start();
    ASSERT_TRUE(peer.ok()) << peer.status();
    ASSERT_TRUE(fs::is_directory(told("folder_name")));
    EXPECT_EQ(fs::status(told("folder_name")).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(told("folder_name")));
  EXPECT_NE(kill(std::stoi(told("process_id")), 0), 0);
}

TEST_F(PeerProcessTest, ItsRowIsThatOfAnyPeer) {
  const LadderReport report = climb();
  const LadderRow& torch = row_of(report, "torch");
  EXPECT_EQ(torch.status, RowStatus::ok) << torch.reason;
  EXPECT_TRUE(torch.verified);
  ASSERT_TRUE(torch.time);
  EXPECT_EQ(torch.time->summary.median, 5.5);
  const LadderRow& right = row_of(report, "right");
  ASSERT_TRUE(right.time && right.ratio_to_peer && right.verdict);
  EXPECT_EQ(right.peer, "torch");
  EXPECT_DOUBLE_EQ(right.ratio_to_peer->median, 5.5 / right.time->summary.median);
  EXPECT_EQ(right.time->summary.n, torch.time->summary.n);
  ASSERT_TRUE(report.results[0].process_copy);
  EXPECT_GT(report.results[0].process_copy->median, 0.0);
  const nlohmann::json json = nlohmann::json::parse(ladder_json(report, "x"))["results"][0]["rows"][1];
  EXPECT_EQ(json["version"], "fake 1.0");
  EXPECT_EQ(json["kind"], "peer");
  EXPECT_TRUE(json["sources"].contains("peer"));
}

TEST_F(PeerProcessTest, InPlaceTheOutputIsTheInputsMemory) {
  answer("run", R"(cp "$here/right" "$folder/x.out"; say '"ok": {}')");
  answer("prepare", R"(echo "$line" >"$here/prepared"; say '"ok": {"peers": {"torch": ""}}')");
  const LadderReport report = climb(TimeMode::stream_hot, true);
  EXPECT_TRUE(row_of(report, "torch").time) << row_of(report, "torch").reason;
  const nlohmann::json tensors = nlohmann::json::parse(told("prepared"))["tensors"];
  EXPECT_EQ(tensors[0]["slot"], "x");
  EXPECT_TRUE(tensors[0]["overwritten"] && tensors[0]["written"]);
  EXPECT_EQ(tensors[1]["memory_of"], "x");
  EXPECT_FALSE(tensors[1]["fresh"]);
}

TEST_F(PeerProcessTest, AWrongResultFails) {
  answer("run", R"(tr '\000' '\001' <"$here/right" >"$folder/y.out"; say '"ok": {}')");
  expect_failed("y element");
  EXPECT_TRUE(climb().failed());
}

TEST_F(PeerProcessTest, AResultOfAnotherSizeFails) {
  answer("run", R"(echo short >"$folder/y.out"; say '"ok": {}')");
  expect_failed("cannot read the file y.out");
  answer("run", R"(say '"ok": {}')");
  expect_failed("cannot read the file y.out");
}

TEST_F(PeerProcessTest, ARightResultThatIsWrongAfterwardsFails) {
  answer("time", R"(touch "$here/timed"; say '"ok": {"us": 5}')");
  answer("run", R"(cp "$here/right" "$folder/y.out"
[ -e "$here/timed" ] && printf 'xxxx' | dd of="$folder/y.out" conv=notrunc status=none
say '"ok": {}')");
  expect_failed("right before it was timed and wrong after it");
}

TEST_F(PeerProcessTest, DyingWhileItIsTimedFails) {
  answer("time", R"([ $id -gt 20 ] && exit 9; say '"ok": {"us": 5}')");
  expect_failed("the process died (exit code 9)");
  answer("time", R"(say '"ok": {"us": -1}')");
  expect_failed("answered nonsense to 'time'");
  answer("time", R"(say '"error": "RuntimeError: out of order"')");
  expect_failed("RuntimeError: out of order");
}

TEST_F(PeerProcessTest, WhatItDoesNotDoIsSkipped) {
  answer("mode", R"(say '"unsupported": "not timed so"')");
  const LadderReport report = climb();
  EXPECT_EQ(row_of(report, "torch").status, RowStatus::skipped);
  EXPECT_EQ(row_of(report, "torch").reason, "not timed so");
  answer("prepare", R"(say '"ok": {"peers": {"torch": "no such dtype", "torch_compile": "no compiler"}}')");
  const LadderReport other = climb();
  EXPECT_EQ(row_of(other, "torch").reason, "no such dtype");
  EXPECT_EQ(row_of(other, "torch_compile").status, RowStatus::skipped);
  answer("hello", R"(say '"unsupported": "no torch"')");
  const LadderReport none = climb();
  EXPECT_EQ(row_of(none, "torch").status, RowStatus::skipped);
  EXPECT_EQ(row_of(none, "torch").reason, "no torch");
  EXPECT_FALSE(none.failed());
}

}  // namespace
}  // namespace rooftile::lab
