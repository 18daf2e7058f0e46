// READMEs from records.
#include "rooftile/lab/ladder/record_table.h"

#include <gtest/gtest.h>

#include "tests/lab/made_up_records.h"

namespace rooftile::lab {
namespace {

using test::chosen_of;
using test::compare_with;
using test::made_up_peer;
using test::made_up_record;
using test::made_up_row;
using test::made_up_skip;

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}
void expect_no_part(const std::string& text, const std::string& part) {
  EXPECT_EQ(text.find(part), std::string::npos) << part << "\nis in\n" << text;
}

TEST(RecordTable, TheClimbOfTheDefaultCase) {
  std::vector<Record> records = {made_up_record(1 << 28)};
  records[0].rows[0].steady = false;
  const std::string text = operator_tables(chosen_of(records));
  expect_part(text, "n=2^28, f32, mode=plain on NVIDIA H200: stream-cold, 1 GiB read, 4 B written");
  expect_part(text, "commit 0123456789ab.");
  expect_part(text, "| **vectorized** | 10.50 us | 3808 | 0.952 | 1.042 faster |");
  expect_part(text, "| naive | 40.00 us (insufficient) | 1000 | 0.250 | 0.275 slower |");
  expect_part(text, "| cub | 11.00 us | 3636 | 0.909 |  |");
  expect_part(text, "](climb.svg)");
  expect_no_part(text, "†");
  expect_no_part(text, "recorded cases");  // one case needs no matrix
}

TEST(RecordTable, WarningsAndADirtyTreeAreShown) {
  std::vector<Record> records = {made_up_record(1024)};
  records[0].commit += "-dirty";
  records[0].notes = {"throttled: the SM clock fell"};
  records[0].rows[3].reason = "counting error";
  const std::string text = operator_tables(chosen_of(records));
  expect_part(text, "commit 0123456789ab-dirty.");
  expect_part(text, "cub: counting error; throttled: the SM clock fell.");
}

TEST(RecordTable, ARowOfOtherSourcesIsMarkedAndNoOther) {
  std::vector<Record> records = {made_up_record(1024), made_up_record(512)};
  mark_stale(records, [&records](const Record& record, const RecordRow& row) {
    return &record == &records[0] && row.rung == "naive";
  });
  const std::string text = operator_tables(chosen_of(records));
  expect_part(text, "| naive† | 40.00 us |");
  expect_part(text, "| **vectorized** | 10.50 us |");
  expect_part(text, "†: measured from other sources");
  expect_part(text, "| 1 | n=1024, f32 | stream-cold | vectorized | 10.50 us |");
  // In the matrix a line stands on the peer and the bound, too.
  mark_stale(records, [](const Record&, const RecordRow& row) { return row.rung == "cub"; });
  expect_part(case_matrix(chosen_of(records)), "| 2 | n=512, f32 | stream-cold | vectorized† | 10.50 us |");
}

TEST(RecordTable, ALinePerCase) {
  std::vector<Record> records = {made_up_record(1 << 20), made_up_record(1 << 20, "graph-hot"),
                                 made_up_record(1024)};
  compare_with(records[1].rows[1], "cub", 1.004, "same");
  records[2].the_case.params[0].second = "strided";
  records[2].notes = {"launch-bound"};
  records[2].rows.insert(records[2].rows.begin() + 2, made_up_row("cluster_of_two", 8, 1.25));
  const std::string text = case_matrix(chosen_of(records));
  expect_part(text, "| # | case | mode | rung | time | GB/s | of bound | vs cub | faster here |");
  expect_part(text, "| 1 | n=2^20, f32 | stream-cold | vectorized | 10.50 us | 3808 | 0.952 | 1.042 |  |");
  expect_part(text, "| 2 | n=2^20, f32 | graph-hot | vectorized | 10.50 us | 3808 | 0.952 | 1.004 same |  |");
  expect_part(text, "| 3 | n=1024, f32, mode=strided <sup>1</sup> | stream-cold |");
  expect_part(text, "| 1.042 | cluster_of_two 1.250 |");
  expect_part(text, "<sup>1</sup> launch-bound.");
  expect_part(text, "Parameters are named where they are not mode=plain.");
  expect_part(text, "Commands and samples: results/h200/fake.json; commit 0123456789ab.");
}

TEST(RecordTable, APeerThatIsNotTheFastestIsComparedByMedians) {
  std::vector<Record> records = {made_up_record(1024), made_up_record(512)};
  records[1].rows.push_back(made_up_peer("torch", 21, 0.476));
  const std::string text = case_matrix(chosen_of(records));
  expect_part(text, "| vs cub | vs torch |");
  expect_part(text, "| 1.042 |  |\n");
  expect_part(text, "| 1.042 | ~2 |\n");
  expect_part(text, "~: of the medians, without a verdict");
}

TEST(RecordTable, HowFarTimesOfAnotherProcessCompareIsToldOnce) {
  std::vector<Record> records = {made_up_record(1024), made_up_record(512)};
  EXPECT_EQ(case_matrix(chosen_of(records)).find("torch"), std::string::npos);
  records[0].process_copy = 0.97;
  records[1].process_copy = 1.01;
  expect_part(case_matrix(chosen_of(records)),
              "the same copy takes there 0.970 to 1.010 of what it takes here");
  expect_part(climb_table(records[0]), "the same copy takes torch's process 0.970");
}

TEST(RecordTable, ArithmeticIsToldInFlops) {
  std::vector<Record> records = {made_up_record(1024), made_up_record(512)};
  records[0].rows.back().rung = "compute_bound";
  records[0].rows.back().tflops = 2.1;
  const std::string text = case_matrix(chosen_of(records));
  expect_part(text, "| rate |");
  expect_part(text, "| 2.00 TFLOP/s |");
  expect_part(text, "| 3808 GB/s |");
  expect_part(climb_table(records[0]), "| rung | time | TFLOP/s |");
}

TEST(RecordTable, EveryRungInEveryCaseInTheLaddersOrder) {
  std::vector<Record> records = {made_up_record(1024), made_up_record(512)};
  records[1].rows[2] = made_up_row("cluster", 9, 1.111);
  const std::string text = rung_matrix(chosen_of(records));
  expect_part(
      text,
      "| | 1 | 2 |\n|---|--:|--:|\n| naive | 0.250 | 0.250 |\n| vectorized | **0.952** | **0.952** |\n"
      "| cluster |  | 1.111 |\n| cub | 0.909 | 0.909 |\n");
}

TEST(RecordTable, ManyCasesStandInSeveralTables) {
  std::vector<Record> records;
  for (int i = 1; i <= 21; ++i) records.push_back(made_up_record(i));
  const std::string text = rung_matrix(chosen_of(records));
  expect_part(text, " 19 | 20 |\n");
  expect_part(text, "| | 21 |\n|---|--:|\n| naive | 0.250 |\n");
}

TEST(RecordTable, ReasonsOfSkipsStandOnce) {
  std::vector<Record> records = {made_up_record(1024), made_up_record(512)};
  for (Record& record : records) record.rows.push_back(made_up_skip("tma", "needs sm_90a"));
  records[1].rows.push_back(made_up_skip("tiles", "needs sm_90a"));
  RecordRow failed = made_up_skip("ring", "wrong result");
  failed.status = "failed";
  records[1].rows.push_back(failed);
  EXPECT_EQ(skipped_rungs(chosen_of(records)),
            "- needs sm_90a: cluster, tma in 2 cases, tiles in 1 case\n"
            "- failed: wrong result: ring in 1 case\n");
}

TEST(RecordTable, AllOperatorsALineEach) {
  std::vector<Record> records = {made_up_record(1024), made_up_record(512),
                                 made_up_record(256, "graph-cold")};
  records[1].rows[1].bound_fraction = 0.6;
  records[1].rows[1].ratio = 0.97;
  records[2].rows[1].ratio = 0.1;  // no mode that bars are read in
  mark_stale(records, [](const Record& record, const RecordRow& row) {
    return record.the_case.shape[0].second == 1024 && row.rung == "naive";
  });
  const std::vector<OperatorRecords> operators = {chosen_of(records),
                                                  choose_records(records, "unrecorded", {})};
  const std::string text = summary_table(operators);
  expect_part(
      text,
      "| [fake](rooftile/ops/fake/README.md) | n=1024, f32, mode=plain | vectorized | 10.50 us | 0.952 | "
      "1.042 (cub) | 2 cases: 0.600, 0.970 of a peer | NVIDIA H200, stream-cold, 0123456789ab† |");
  expect_no_part(text, "unrecorded");
  expect_part(text, "†: recorded from other sources");
}

TEST(RecordTable, NoRecordSaysSo) {
  EXPECT_EQ(summary_table(std::vector{choose_records({}, "fake", {})}), "No record yet.\n");
  EXPECT_EQ(operator_tables(choose_records({}, "fake", {})).find("No record yet"), 0u);
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
