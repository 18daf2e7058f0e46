// READMEs from records.
#include "rooftile/lab/ladder/record_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "rooftile/lab/ladder/json_report.h"
#include "tests/lab/fake_operator.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

LadderReport made_up_report(double extent) {
  LadderReport report;
  report.operator_name = "fake";
  LadderResult result;
  result.device = cuda_device(0);
  result.the_case = test::fake_case(static_cast<std::int64_t>(extent), DType::f32);
  result.read_bytes = 4 * extent;
  result.write_bytes = 4;
  LadderRow rung;
  rung.rung = "vectorized";
  rung.kind = "rung";
  rung.chosen = true;
  rung.verified = true;
  rung.time = RowTime{{12.5, 0.1, 30}, TimeMode::stream_cold, std::vector<double>(30, 12.5), true};
  rung.gbps = 3210.4;
  rung.bound_fraction = 0.987;
  rung.peer = "cub";
  rung.ratio_to_peer = Interval{1.042, 1.03, 1.05};
  rung.verdict = Verdict::faster;
  LadderRow wide = rung;
  wide.rung = "naive";
  wide.chosen = false;
  wide.time->steady = false;
  wide.ratio_to_peer.reset();
  LadderRow skipped;
  skipped.rung = "cluster";
  skipped.status = RowStatus::skipped;
  skipped.reason = "needs sm_90a";
  LadderRow also_skipped = skipped;
  also_skipped.rung = "tma";
  result.rows = {rung, skipped, wide, also_skipped};
  report.results = {result};
  return report;
}

class RecordTable : public testing::Test {
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

TEST_F(RecordTable, ATablePerCase) {
  write("b.json", ladder_json(made_up_report(1024), "rooftile ladder fake --shape n=1024"));
  write("a.json", ladder_json(made_up_report(4096), "rooftile ladder fake --shape n=4096"));
  write("verify_fake.json", R"({"schema":1,"device":"cuda:0","cases":1})");
  write("index.tsv", "not JSON, and not read");
  const Result<std::vector<Record>> records = read_records(root_.string());
  ASSERT_TRUE(records.ok()) << records.status().message();
  ASSERT_EQ(records->size(), 2u);
  EXPECT_EQ(records->front().path, "results/h200/a.json");
  const std::string text = operator_tables(*records, "fake");
  EXPECT_LT(text.find("n=4096, f32, mode=plain"), text.find("n=1024, f32, mode=plain")) << text;
  EXPECT_NE(text.find("| **vectorized** | 12.50 us | 3210 | 0.987 | 1.042 faster |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("| naive | 12.50 us (insufficient) |"), std::string::npos) << text;
  EXPECT_NE(text.find("cluster, tma (skipped: needs sm_90a)"), std::string::npos) << text;
  EXPECT_NE(text.find("`rooftile ladder fake --shape n=1024`"), std::string::npos) << text;
  EXPECT_EQ(text.find("Stale"), std::string::npos) << text;
  const std::string summary = summary_table(*records, {"fake"});
  EXPECT_NE(summary.find("| vectorized | 12.50 us | 0.987 | 1.042 faster (cub) |"), std::string::npos)
      << summary;
}

TEST_F(RecordTable, ARecordOfOtherSourcesIsStaleAndGivesWayToAFreshOne) {
  std::string old = ladder_json(made_up_report(1024), "old");
  const std::string_view kernel = "\"kernel\": \"unknown\"";
  ASSERT_NE(old.find(kernel), std::string::npos);
  old.replace(old.find(kernel), kernel.size(), "\"kernel\": \"0123456789ab\"");
  write("z.json", old);
  Result<std::vector<Record>> records = read_records(root_.string());
  ASSERT_TRUE(records.ok());
  EXPECT_NE(operator_tables(*records, "fake").find("stand here: vectorized (kernel).*"), std::string::npos);
  EXPECT_NE(summary_table(*records, {"fake"}).find("(stale)"), std::string::npos);
  write("a.json", ladder_json(made_up_report(1024), "new"));
  records = read_records(root_.string());
  ASSERT_TRUE(records.ok());
  const std::string text = operator_tables(*records, "fake");
  EXPECT_EQ(text.find("Stale"), std::string::npos) << text;
  EXPECT_EQ(text.find("`old`"), std::string::npos) << text;
}

TEST_F(RecordTable, NoRecordSaysSo) {
  fs::remove_all(root_ / "results");
  const Result<std::vector<Record>> records = read_records(root_.string());
  ASSERT_TRUE(records.ok()) << records.status().message();
  EXPECT_TRUE(records->empty());
  EXPECT_EQ(operator_tables(*records, "fake").find("No record yet"), 0u);
  EXPECT_EQ(summary_table(*records, {"fake"}), "No record yet.\n");
}

TEST_F(RecordTable, ABrokenRecordIsNamed) {
  for (const char* text : {"{\"schema\":1,", "", "[]", R"({"schema":2,"operator":"fake","results":[]})",
                           R"({"schema":1,"operator":"fake","results":[{"case":3}]})",
                           R"({"schema":1,"operator":"fake","results":{}})"}) {
    write("broken.json", text);
    const Result<std::vector<Record>> records = read_records(root_.string());
    ASSERT_FALSE(records.ok()) << text;
    EXPECT_NE(records.status().message().find("results/h200/broken.json"), std::string::npos);
  }
}

TEST(ReplaceGenerated, BetweenItsOwnMarkersOnly) {
  const std::string text = "a\n<!-- generated: x -->\nold\n<!-- end generated -->\nb\n";
  const Result<std::string> replaced = replace_generated(text, "x", "new\n");
  ASSERT_TRUE(replaced.ok());
  EXPECT_EQ(*replaced, "a\n<!-- generated: x -->\nnew\n<!-- end generated -->\nb\n");
  EXPECT_EQ(*replace_generated(*replaced, "x", "new\n"), *replaced);
  for (const char* broken : {"", "<!-- generated: x -->\n", "<!-- end generated -->\n<!-- generated: x -->\n",
                             "<!-- generated: x -->\n<!-- generated: y -->\n<!-- end generated -->\n",
                             "<!-- generated: x -->\n<!-- end generated -->\n<!-- generated: x -->\n"}) {
    EXPECT_EQ(replace_generated(broken, "x", "").status().code(), StatusCode::invalid_argument) << broken;
  }
}

}  // namespace
}  // namespace rooftile::lab
