// One file of many cases, and peers of other processes.
#include "rooftile/lab/ladder/ladder_merge.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "rooftile/lab/ladder/json_report.h"
#include "rooftile/lab/ladder/ladder_table.h"
#include "tests/lab/fake_operator.h"

namespace rooftile::lab {
namespace {

using Json = nlohmann::json;

LadderReport one_case(std::int64_t n, double us) {
  LadderReport report;
  report.operator_name = "fake";
  LadderResult result;
  result.device = cuda_device(0);
  result.the_case = test::fake_case(n, DType::f32);
  result.read_bytes = 4.0 * static_cast<double>(n);
  for (const char* kind : {"rung", "bound"}) {
    LadderRow row;
    row.rung = row.kind = kind;
    row.verified = true;
    row.time = RowTime{{us, 0.0, 30}, TimeMode::stream_cold, std::vector<double>(30, us), true};
    result.rows.push_back(row);
  }
  report.results = {result};
  return report;
}

TEST(MergeLadders, AddsCasesAndReplacesTheSameOne) {
  const std::string first = ladder_json(one_case(1024, 5.0), "first");
  const Result<std::string> both = merge_ladders(first, ladder_json(one_case(4096, 9.0), "second"));
  ASSERT_TRUE(both.ok()) << both.status().message();
  const Result<std::string> again = merge_ladders(*both, ladder_json(one_case(1024, 4.0), "third"));
  ASSERT_TRUE(again.ok()) << again.status().message();
  const Json json = Json::parse(*again);
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["command"], "third");
  ASSERT_EQ(json["results"].size(), 2u);
  EXPECT_EQ(json["results"][0]["case"]["shape"]["n"], 1024);
  EXPECT_EQ(json["results"][0]["rows"][0]["time_us"]["median"], 4.0);
  EXPECT_EQ(json["results"][0]["command"], "third");
  EXPECT_EQ(json["results"][1]["command"], "second");
  EXPECT_FALSE(json["results"][1].contains("machine"));

  LadderReport hot = one_case(1024, 3.0);
  hot.results[0].mode = TimeMode::stream_hot;
  const Result<std::string> modes = merge_ladders(*again, ladder_json(hot, "hot"));
  ASSERT_TRUE(modes.ok());
  EXPECT_EQ(Json::parse(*modes)["results"].size(), 3u);
}

TEST(MergeLadders, ResultsOfOldRecordsKeepTheirCommit) {
  Json old = Json::parse(ladder_json(one_case(1024, 5.0), "old"));
  old["commit"] = "0ld";
  old["results"][0].erase("commit");
  const Result<std::string> merged = merge_ladders(old.dump(), ladder_json(one_case(4096, 9.0), "new"));
  ASSERT_TRUE(merged.ok()) << merged.status().message();
  const Json results = Json::parse(*merged)["results"];
  EXPECT_EQ(results[0]["commit"], "0ld");
  EXPECT_NE(results[1]["commit"], "0ld");
}

TEST(MergeLadders, AnotherMachineStaysWithItsResults) {
  Json old = Json::parse(ladder_json(one_case(1024, 5.0), "old"));
  old["machine"]["gpu"] = "another";
  const Result<std::string> both = merge_ladders(old.dump(), ladder_json(one_case(4096, 9.0), "new"));
  ASSERT_TRUE(both.ok()) << both.status().message();
  const Json json = Json::parse(*both);
  EXPECT_NE(json["machine"]["gpu"], "another");
  EXPECT_EQ(json["results"][0]["machine"]["gpu"], "another");
  EXPECT_FALSE(json["results"][1].contains("machine"));
}

TEST(MergeLadders, WhatIsNoRecordOfThisOperatorIsAnError) {
  const std::string fresh = ladder_json(one_case(1024, 5.0), "x");
  LadderReport other = one_case(1024, 5.0);
  other.operator_name = "other";
  for (const std::string& kept :
       {std::string(), std::string("[]"), std::string(R"({"schema":2,"operator":"fake","results":[]})"),
        std::string(R"({"schema":1,"operator":"fake","results":[3]})"), ladder_json(other, "x")}) {
    EXPECT_EQ(merge_ladders(kept, fresh).status().code(), StatusCode::io_error) << kept;
  }
}

Json peer_record() {
  Json json = Json::parse(ladder_json(one_case(1024, 5.0), "torch_peers.py"));
  Json& rows = json["results"][0]["rows"];
  rows.erase(1);
  rows[0]["rung"] = "torch";
  rows[0]["kind"] = "peer";
  rows[0]["reason"] = "torch 2.11";
  rows[0]["time_us"]["samples"] = std::vector<double>(30, 10.0);
  return json;
}

TEST(PeerRows, AreMarkedAndTakeNoPartInVerdicts) {
  LadderReport report = one_case(1024, 5.0);
  const Result<int> added = add_peer_rows(report, peer_record().dump());
  ASSERT_TRUE(added.ok()) << added.status().message();
  EXPECT_EQ(*added, 1);
  ASSERT_EQ(report.results[0].rows.size(), 3u);
  const LadderRow& torch = report.results[0].rows[2];
  EXPECT_TRUE(torch.other_process && torch.verified);
  EXPECT_EQ(torch.kind, "peer");
  EXPECT_EQ(torch.time->summary.median, 10.0);
  EXPECT_DOUBLE_EQ(*torch.bound_fraction, 0.5);
  EXPECT_FALSE(torch.verdict || torch.ratio_to_peer);
  EXPECT_TRUE(Json::parse(ladder_json(report, "x"))["results"][0]["rows"][2]["other_process"]);
  EXPECT_NE(ladder_table(report, 200, false).find("torch (other process)"), std::string::npos);
}

TEST(PeerRows, OnlyOfTheSameCaseAndMode) {
  for (const LadderReport& other : {one_case(1025, 5.0), one_case(1024, 5.0)}) {
    LadderReport report = other;
    if (report.results[0].the_case.shape[0].second == 1024) report.results[0].mode = TimeMode::stream_hot;
    const Result<int> added = add_peer_rows(report, peer_record().dump());
    ASSERT_TRUE(added.ok()) << added.status().message();
    EXPECT_EQ(*added, 0);
    EXPECT_EQ(report.results[0].rows.size(), 2u);
  }
}

TEST(PeerRows, AnUnverifiedTimeIsAnError) {
  LadderReport report = one_case(1024, 5.0);
  Json json = peer_record();
  json["results"][0]["rows"][0]["verified"] = false;
  EXPECT_EQ(add_peer_rows(report, json.dump()).status().code(), StatusCode::io_error);
  json["results"][0]["rows"][0]["time_us"] = nullptr;
  ASSERT_TRUE(add_peer_rows(report, json.dump()).ok());
  EXPECT_EQ(report.results[0].rows.back().status, RowStatus::skipped);
  EXPECT_EQ(add_peer_rows(report, "{").status().code(), StatusCode::io_error);
}

}  // namespace
}  // namespace rooftile::lab
