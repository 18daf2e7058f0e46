// Records from JSON, and which of them tables show.
#include "rooftile/lab/ladder/records.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "rooftile/lab/ladder/json_report.h"
#include "rooftile/lab/ladder/record_choice.h"
#include "tests/lab/fake_operator.h"
#include "tests/lab/made_up_records.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;
using test::chosen_of;
using test::made_up_record;

LadderReport made_up_report(double extent) {
  LadderReport report;
  report.operator_name = "fake";
  LadderResult result;
  result.device = cuda_device(0);
  result.the_case = test::fake_case(static_cast<std::int64_t>(extent), DType::f32);
  result.read_bytes = 4 * extent;
  result.write_bytes = 4;
  result.notes = {"launch-bound"};
  LadderRow rung;
  rung.rung = "vectorized";
  rung.kind = "rung";
  rung.chosen = true;
  rung.verified = true;
  rung.time = RowTime{{12.5, 0.1, 30}, TimeMode::stream_cold, std::vector<double>(30, 12.5), false};
  rung.gbps = 3210.4;
  rung.bound_fraction = 0.987;
  rung.peer = "cub";
  rung.ratio_to_peer = Interval{1.042, 1.03, 1.05};
  rung.verdict = Verdict::faster;
  LadderRow skipped;
  skipped.rung = "cluster";
  skipped.status = RowStatus::skipped;
  skipped.reason = "needs sm_90a";
  result.rows = {rung, skipped};
  report.results = {result};
  return report;
}

class Records : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "rooftile_records_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directories(root_ / "results" / "h200");
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / "results" / "h200" / name) << text;
  }
  fs::path root_;
};

TEST_F(Records, HoldWhatALadderWrote) {
  write("b.json", ladder_json(made_up_report(1024), "rooftile ladder fake --shape n=1024"));
  write("a.json", ladder_json(made_up_report(4096), "rooftile ladder fake --shape n=4096"));
  write("verify_fake.json", R"({"schema":1,"device":"cuda:0","cases":1})");
  write("index.tsv", "not JSON, and not read");
  const Result<std::vector<Record>> records = read_records(root_.string());
  ASSERT_TRUE(records.ok()) << records.status().message();
  ASSERT_EQ(records->size(), 2u);
  const Record& record = records->front();
  EXPECT_EQ(record.path, "results/h200/a.json");
  EXPECT_EQ(record.gpu, "h200");
  EXPECT_EQ(record.command, "rooftile ladder fake --shape n=4096");
  EXPECT_EQ(record.the_case, record_case(test::fake_case(4096, DType::f32)));
  EXPECT_EQ(record.notes, std::vector<std::string>{"launch-bound"});
  ASSERT_EQ(record.rows.size(), 2u);
  const RecordRow& row = record.rows.front();
  EXPECT_TRUE(row.chosen);
  EXPECT_FALSE(row.steady);
  EXPECT_EQ(row.median_us, 12.5);
  EXPECT_EQ(row.bound_fraction, 0.987);
  EXPECT_EQ(row.ratio, 1.042);
  EXPECT_EQ(row.verdict, "faster");
  EXPECT_FALSE(record.rows.back().timed);
  EXPECT_EQ(record.rows.back().reason, "needs sm_90a");
}

// In schema 1 peers of another process were measured by themselves: they are no peers that took turns.
TEST_F(Records, RowsThatTookNoTurnsArePassedOver) {
  write("fake.json", R"({"schema":1,"operator":"fake","machine":{"gpu":"X"},"results":[
    {"case":{"shape":{"n":8},"dtype":"f32","params":{}},"device":"cuda:0","mode":"stream-cold","rows":[
      {"rung":"one","kind":"rung","status":"ok","time_us":{"median":2}},
      {"rung":"torch","kind":"peer","other_process":true,"status":"ok","time_us":{"median":1}}]}]})");
  const Result<std::vector<Record>> records = read_records(root_.string());
  ASSERT_TRUE(records.ok()) << records.status().message();
  ASSERT_EQ(records->size(), 1u);
  ASSERT_EQ((*records)[0].rows.size(), 1u);
  EXPECT_EQ((*records)[0].rows[0].rung, "one");
}

TEST_F(Records, NoFolderIsNoRecord) {
  fs::remove_all(root_ / "results");
  const Result<std::vector<Record>> records = read_records(root_.string());
  ASSERT_TRUE(records.ok()) << records.status().message();
  EXPECT_TRUE(records->empty());
}

TEST_F(Records, ABrokenOneIsNamed) {
  for (const char* text : {"{\"schema\":1,", "", "[]", R"({"schema":3,"operator":"fake","results":[]})",
                           R"({"schema":1,"operator":"fake","results":[{"case":3}]})",
                           R"({"schema":1,"operator":"fake","results":{}})"}) {
    write("broken.json", text);
    const Result<std::vector<Record>> records = read_records(root_.string());
    ASSERT_FALSE(records.ok()) << text;
    EXPECT_NE(records.status().message().find("results/h200/broken.json"), std::string::npos);
  }
}

TEST(RecordChoice, TheFresherOfTwoOfOneCaseThenTheLaterOne) {
  std::vector<Record> records = {made_up_record(1024), made_up_record(1024), made_up_record(1024)};
  records[0].command = "stale";
  records[1].command = "fresh";
  records[2].command = "stale, later";
  mark_stale(records, [](const Record& record, const RecordRow& row) {
    return record.command.starts_with("stale") && row.rung == "naive";
  });
  EXPECT_TRUE(records[0].rows[0].stale);
  EXPECT_FALSE(records[0].rows[1].stale);
  ASSERT_EQ(chosen_of(records).shown.size(), 1u);
  EXPECT_EQ(chosen_of(records).shown.front()->command, "fresh");
  records.erase(records.begin() + 1);
  EXPECT_EQ(chosen_of(records).shown.front()->command, "stale, later");
}

TEST(RecordChoice, TheDefaultDtypeAndParametersComeFirstThenTheLarger) {
  Record other = made_up_record(1 << 20);
  other.the_case.dtype = "bf16";
  const std::vector<Record> records = {made_up_record(1024), other, made_up_record(4096)};
  const OperatorRecords of = chosen_of(records);
  ASSERT_EQ(of.shown.size(), 3u);
  EXPECT_EQ(of.shown[0], &records[2]);
  EXPECT_EQ(of.shown[1], &records[0]);
  EXPECT_EQ(of.shown[2], &records[1]);
  EXPECT_EQ(of.climb, &records[0]) << "the default case, not the largest";
}

TEST(RecordChoice, TheClimbIsOfTheLessFlatteringMode) {
  std::vector<Record> records = {made_up_record(1024), made_up_record(1024, "stream-cold-clean"),
                                 made_up_record(1024, "graph-hot")};
  records[1].rows[1].ratio = 1.01;
  records[2].rows[1].ratio = 0.5;
  EXPECT_EQ(chosen_of(records).climb, &records[1]) << "graphs and warm caches are no headline";
  records[0].rows[1].ratio = 1.005;
  EXPECT_EQ(chosen_of(records).climb, &records[0]);
}

TEST(RecordChoice, WithoutTheDefaultCaseAnotherIsTheClimb) {
  const std::vector<Record> records = {made_up_record(1024, "stream-hot"), made_up_record(512)};
  RecordCase unrecorded = records.front().the_case;
  unrecorded.shape[0].second = 7;
  EXPECT_EQ(choose_records(records, "fake", unrecorded).climb, &records[1]);
  EXPECT_EQ(choose_records(records, "other", unrecorded).climb, nullptr);
}

}  // namespace
}  // namespace rooftile::lab
