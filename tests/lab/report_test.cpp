// The ladder's report: rows, JSON schema 2, the table.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/ladder/json_report.h"
#include "rooftile/lab/ladder/ladder_table.h"
#include "tests/lab/fake_operator.h"

namespace rooftile::lab {
namespace {

using Json = nlohmann::json;
using test::Bug;

RungRow picky_rung() {
  RungRow row = test::fake_rung("picky", Bug::none);
  row.supports = [](ArgsRef, const DeviceProperties&) { return std::string_view("needs a full moon"); };
  return row;
}
RungRow absent_rung() {
  RungRow row = test::fake_rung("absent", Bug::none);
  row.launch.cpu = nullptr;
  row.absent = true;
  return row;
}

class LadderReportTest : public testing::Test {
 protected:
  LadderReportTest()
      : op_(test::make_fake("fake",
                            {test::fake_rung("right", Bug::none), test::fake_rung("wrong", Bug::skips_tail),
                             picky_rung(), absent_rung()})) {
    registry_.add(op_);
    registry_.add(test::make_fake_cases("fake"));
  }

  Result<LadderReport> climb(LadderOptions options = {}) { return climb_of(registry_, std::move(options)); }

  Result<LadderReport> climb_of(const Registry& registry, LadderOptions options = {}) {
    options.devices = {kCpu};
    options.timing.first_look = options.timing.max_rounds = 12;
    options.request.shape = {{"n", "1000003"}};
    return run_ladder(registry, op_, options);
  }

  OperatorDescriptor op_;
  Registry registry_;
};

TEST_F(LadderReportTest, OnlyVerifiedRowsAreTimed) {
  const Result<LadderReport> report = climb();
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->results.size(), 1u);
  const std::vector<LadderRow>& rows = report->results[0].rows;
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].rung, "right");
  EXPECT_TRUE(rows[0].verified && rows[0].chosen && rows[0].time);
  EXPECT_EQ(rows[0].time->summary.n, 12);
  EXPECT_GT(rows[0].gbps, 0.0);
  EXPECT_GT(rows[0].bound_fraction.value_or(0.0), 0.0);
  EXPECT_EQ(rows[1].status, RowStatus::failed);
  EXPECT_FALSE(rows[1].verified || rows[1].time);
  EXPECT_EQ(rows[2].status, RowStatus::skipped);
  EXPECT_EQ(rows[2].reason, "needs a full moon");
  EXPECT_EQ(rows[3].status, RowStatus::not_built);
  EXPECT_EQ(rows[4].kind, "bound");
  EXPECT_TRUE(report->failed());
}

// Where operations may be the bound and nothing measures them, a note says so.
TEST_F(LadderReportTest, ABoundThatIsMissingIsANote) {
  OperatorCases cases = test::make_fake_cases("fake");
  cases.plan = [plan = cases.plan](const Case& c) -> Result<CasePlan> {
    ROOFTILE_TRY_ASSIGN(CasePlan result, plan(c));
    result.flops = 1e9;
    result.flops_on = FlopUnit::fma_f32;
    return result;
  };
  Registry registry;
  registry.add(op_);
  registry.add(std::move(cases));
  const Result<LadderReport> report = climb_of(registry);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->results[0].rows.back().rung, "streaming_bound");
  const std::vector<std::string>& notes = report->results[0].notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(),
                          [](const std::string& note) { return note.starts_with("no compute bound: "); }));
}

TEST_F(LadderReportTest, JsonHoldsTheKeysOfSchemaTwo) {
  const Result<LadderReport> report = climb();
  ASSERT_TRUE(report.ok());
  const Json json = Json::parse(ladder_json(*report, "rooftile ladder fake"));
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["operator"], "fake");
  EXPECT_EQ(json["command"], "rooftile ladder fake");
  for (const char* key : {"machine", "commit", "source_digest", "results"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char* key : {"cpu", "gpu", "driver", "compiler", "flags", "os"}) {
    EXPECT_TRUE(json["machine"].contains(key)) << key;
  }
  const Json& result = json["results"][0];
  EXPECT_EQ(result["case"]["shape"]["n"], 1000003);
  EXPECT_EQ(result["case"]["dtype"], "f32");
  EXPECT_EQ(result["case"]["params"]["mode"], "plain");
  EXPECT_EQ(result["case"]["bytes"], 8000024.0);
  for (const char* key :
       {"date", "lab", "budget_s", "flush_bytes", "bound", "conditions", "judging_s", "notes"})
    EXPECT_TRUE(result.contains(key)) << key;
  EXPECT_GT(result["flush_bytes"].get<double>(), 1e6);
  EXPECT_EQ(result["bound"], "streaming_bound");
  for (const char* key : {"flops", "flops_on", "seed"}) EXPECT_TRUE(result["case"].contains(key)) << key;
  for (const Json& row : result["rows"]) {
    for (const char* key : {"rung", "kind", "device", "chosen", "status", "reason", "verified", "error",
                            "time_us", "gbps", "idea", "workspace_bytes", "launches", "tflops",
                            "bound_fraction", "peer", "ratio_to_peer", "verdict", "sources"}) {
      EXPECT_TRUE(row.contains(key)) << key;
    }
    EXPECT_EQ(row["time_us"].is_null(), row["status"] != "ok") << row.dump();
  }
  const Json& time = result["rows"][0]["time_us"];
  EXPECT_EQ(time["mode"], "stream-cold");
  EXPECT_EQ(time["n"], 12);
  EXPECT_EQ(time["samples"].size(), 12u);
  EXPECT_GT(time["median"].get<double>(), 0.0);
  EXPECT_LE(time["least"], time["low"]);
  EXPECT_LE(time["low"], time["median"]);
  EXPECT_LE(time["median"], time["high"]);
  EXPECT_LE(time["high"], time["most"]);
  EXPECT_EQ(result["rows"][0]["workspace_bytes"], 44);
  EXPECT_TRUE(time.contains("iqr"));
  EXPECT_TRUE(time["verdict"] == "ok" || time["verdict"] == "insufficient") << time.dump();
  EXPECT_TRUE(result["sm_clock_mhz"].is_null());
}

TEST_F(LadderReportTest, VerifyJson) {
  VerifyOptions options;
  options.devices = {kCpu};
  const Result<VerifyReport> report = verify(registry_, options);
  ASSERT_TRUE(report.ok());
  const Json json = Json::parse(verify_json(*report, "rooftile verify fake"));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_GT(json["passed"], 0);
  EXPECT_GT(json["failed"], 0);
  int skipped = 0;
  for (const Json& skip : json["skipped"]) skipped += skip["count"].get<int>();
  EXPECT_EQ(json["cases"].get<int>(), json["passed"].get<int>() + json["failed"].get<int>() + skipped);
  EXPECT_EQ(json["skipped"].size(), 2u);  // one per rung and reason
  EXPECT_EQ(json["skipped"][0]["id"], "fake/picky[*]");
  EXPECT_EQ(json["failures"].size(), json["failed"].get<std::size_t>());
  std::set<std::string> reasons;
  for (const Json& skip : json["skipped"]) reasons.insert(skip["reason"].get<std::string>());
  EXPECT_EQ(reasons.size(), 2u);
  for (const Json& failure : json["failures"]) {
    EXPECT_EQ(failure["repro"].get<std::string>().find("rooftile verify fake --rung "), 0u);
    EXPECT_FALSE(failure["id"].get<std::string>().empty());
  }
}

TEST_F(LadderReportTest, ListJson) {
  const Json json = Json::parse(list_json(registry_));
  ASSERT_EQ(json["operators"].size(), 1u);
  EXPECT_EQ(json["operators"][0]["name"], "fake");
  const Json& rungs = json["operators"][0]["rungs"];
  ASSERT_EQ(rungs.size(), 4u);
  EXPECT_EQ(rungs[0]["id"], "right");
  EXPECT_EQ(rungs[0]["available"], Json({{"cuda", false}, {"cpu", true}, {"sim", false}}));
  EXPECT_EQ(rungs[3]["available"]["cpu"], false);
  EXPECT_FALSE(rungs[3]["reason"].get<std::string>().empty());
}

TEST_F(LadderReportTest, NamedRungsAlone) {
  LadderOptions options;
  options.rungs = {"right"};
  const Result<LadderReport> report = climb(options);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->results[0].rows.size(), 2u);
  EXPECT_FALSE(report->failed());
  options.rungs = {"wright"};
  EXPECT_EQ(climb(options).status().code(), StatusCode::invalid_argument);
}

// A row whose file defines no launcher is a mistake, not a rung to pass over.
TEST_F(LadderReportTest, ARungWithoutALauncherFails) {
  RungRow row = test::fake_rung("lost", Bug::none);
  row.launch.cpu = nullptr;
  op_.rungs.push_back(row);
  const Result<LadderReport> report = climb({.rungs = {"right", "lost"}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->failed());
  EXPECT_EQ(report->results[0].rows[1].status, RowStatus::failed);
  EXPECT_NE(report->results[0].rows[1].reason.find("no launcher for cpu"), std::string::npos);
}

TEST_F(LadderReportTest, TwoModesAreTwoResultsOfOneVerification) {
  const Result<LadderReport> report =
      climb({.rungs = {"right"}, .modes = {TimeMode::stream_cold, TimeMode::stream_cold_clean}});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->results.size(), 2u);
  EXPECT_EQ(report->results[1].mode, TimeMode::stream_cold_clean);
  EXPECT_EQ(report->results[1].rows[0].time->mode, TimeMode::stream_cold_clean);
  EXPECT_EQ(report->results[0].inputs, (std::vector<std::string>{"x: uniform"}));
  const Json json = Json::parse(ladder_json(*report, "x"));
  EXPECT_EQ(json["results"][1]["mode"], "stream-cold-clean");
}

TEST_F(LadderReportTest, TheTableIsAlignedAndPlainWithoutColour) {
  const Result<LadderReport> report = climb();
  ASSERT_TRUE(report.ok());
  const std::string plain = ladder_table(*report, 100, false);
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  EXPECT_NE(plain.find("FAILED"), std::string::npos);
  EXPECT_NE(plain.find("not built"), std::string::npos);
  EXPECT_NE(ladder_table(*report, 100, true).find('\033'), std::string::npos);
}

TEST_F(LadderReportTest, ATimeOfTooFewSamplesSaysInsufficient) {
  LadderOptions options;
  options.devices = {kCpu};
  options.timing.first_look = options.timing.max_rounds = 4;
  options.request.shape = {{"n", "1000003"}};
  const Result<LadderReport> report = run_ladder(registry_, op_, options);
  ASSERT_TRUE(report.ok());
  const LadderRow& row = report->results[0].rows[0];
  ASSERT_TRUE(row.time);
  EXPECT_FALSE(row.time->steady);
  EXPECT_EQ(row.verdict, Verdict::insufficient);
  EXPECT_NE(ladder_table(*report, 120, false).find("% insufficient"), std::string::npos);
  const Json json = Json::parse(ladder_json(*report, "rooftile ladder fake"));
  EXPECT_EQ(json["results"][0]["rows"][0]["verdict"], "insufficient");
  EXPECT_EQ(json["results"][0]["rows"][0]["time_us"]["verdict"], "insufficient");
}

TEST(GpuMonitor, NamesWhatSlowsAGpuDown) {
  EXPECT_EQ(slowing_reasons(0), "");
  EXPECT_EQ(slowing_reasons(0x1 | 0x2 | 0x10), "") << "idle, and what a user set";
  EXPECT_EQ(slowing_reasons(0x4 | 0x40), "power cap, thermal, by hardware");
}

TEST(GpuMonitor, SaysWhyNothingIsKnown) {
  GpuMonitor monitor(kCpu);
  const GpuConditions found = monitor.finish();
  EXPECT_NE(found.unknown, "");
  EXPECT_EQ(found.samples, 0);
}

TEST(SmClock, ThrottlingIsAFallOrAClockFarBelowTheRatedOne) {
  EXPECT_FALSE((SmClock{1980, 1970, 1980}.throttled()));
  EXPECT_TRUE((SmClock{1980, 1800, 1980}.throttled()));
  EXPECT_TRUE((SmClock{1700, 1700, 1980}.throttled()));
  EXPECT_FALSE((SmClock{1700, 1700, 0}.throttled()));
  EXPECT_TRUE((SmClock{1700, 1500, 0}.throttled()));
}

TEST(TextTable, ColumnsStandUnderTheirHeaders) {
  TextTable table;
  table.add_column("name");
  table.add_column("us", Align::right);
  table.add_column("idea");
  table.add_row({{"a"}, {"1.5"}, {"one two three four five six seven eight nine ten eleven twelve"}});
  table.add_row({{"longer\xC3\xA9"}, {"1234.5"}, {"short"}});
  EXPECT_EQ(table.render(50, false),
            "name         us  idea\n"
            "a           1.5  one two three four five six seven\n"
            "                 eight nine ten eleven twelve\n"
            "longer\xC3\xA9  1234.5  short\n");
}

TEST(TextTable, WrapKeepsLongWordsWhole) {
  EXPECT_EQ(wrap("aaaa bb cc", 5), (std::vector<std::string>{"aaaa", "bb cc"}));
  EXPECT_EQ(wrap("abcdefgh i", 3), (std::vector<std::string>{"abcdefgh", "i"}));
  EXPECT_EQ(wrap("", 3), (std::vector<std::string>{""}));
}

TEST(TextTable, PaintOnlyWhenEnabled) {
  EXPECT_EQ(paint("x", Colour::red, false), "x");
  EXPECT_EQ(paint("x", Colour::red, true), "\033[31mx\033[0m");
}

}  // namespace
}  // namespace rooftile::lab
