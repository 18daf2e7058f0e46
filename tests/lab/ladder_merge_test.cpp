// One file of many cases.
#include "rooftile/lab/ladder/ladder_merge.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "rooftile/lab/ladder/json_report.h"
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
       {std::string(), std::string("[]"), std::string(R"({"schema":3,"operator":"fake","results":[]})"),
        std::string(R"({"schema":1,"operator":"fake","results":[3]})"), ladder_json(other, "x")}) {
    EXPECT_EQ(merge_ladders(kept, fresh).status().code(), StatusCode::io_error) << kept;
  }
}

}  // namespace
}  // namespace rooftile::lab
