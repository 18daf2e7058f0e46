// The drawing of an operator's ladders in several dtypes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rooftile/lab/ladder/record_table.h"
#include "tests/lab/made_up_records.h"

namespace rooftile::lab {
namespace {

using test::chosen_of;
using test::made_up_record;
using test::made_up_row;

// A ladder of other rungs in 16 bits: the first has 100 times the rate of f32's naive.
Record halves() {
  Record record = made_up_record(1 << 20);
  record.the_case.dtype = "bf16";
  record.the_case.params = {{"mode", "turned"}};
  record.rows = {made_up_row("tensor_naive", 20, 0.5), made_up_row("tensor_best", 5, 0.9)};
  record.rows[0].gbps = 100 * made_up_record(1 << 20).rows[0].gbps;
  record.rows[1].gbps = 2 * record.rows[0].gbps;
  record.rows[1].chosen = true;
  return record;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(WholeClimb, LaddersOfOtherRungsAreOnePicture) {
  const std::vector<Record> records = {made_up_record(1 << 20), halves()};
  const OperatorRecords of = chosen_of(records);
  ASSERT_EQ(of.whole_climb.size(), 2u);
  EXPECT_EQ(of.whole_climb[0]->the_case.dtype, "f32");
  EXPECT_EQ(of.whole_climb[1]->the_case.dtype, "bf16");
  const std::string svg = whole_climb_svg(of);
  EXPECT_EQ(count(svg, "<rect class=\"r\""), 2u) << svg;
  EXPECT_EQ(count(svg, "<rect class=\"w\""), 2u) << svg;
  EXPECT_EQ(count(svg, "<rect class=\"p\""), 1u) << svg;
  EXPECT_LT(svg.find(">naive<"), svg.find(">tensor_naive<"));
  EXPECT_EQ(svg, whole_climb_svg(of));
  EXPECT_EQ(whole_climb_sentence(of),
            "5 bars, from naive of f32 at 1000 GB/s to tensor_best of bf16 at 200000");
  EXPECT_NE(operator_tables(of).find("](whole_climb.svg)"), std::string::npos);
}

TEST(WholeClimb, ARungThatServesBothMayStandInBoth) {
  std::vector<Record> records = {made_up_record(1 << 20), halves()};
  records[1].rows.push_back(made_up_row("naive", 50, 0.2));
  EXPECT_EQ(chosen_of(records).whole_climb.size(), 2u);
  records[1].rows.push_back(made_up_row("vectorized", 40, 0.25));  // half of them
  EXPECT_TRUE(chosen_of(records).whole_climb.empty());
}

TEST(WholeClimb, OneLadderHasNone) {
  std::vector<Record> records = {made_up_record(1 << 20), made_up_record(1 << 20)};
  records[1].the_case.dtype = "f16";  // the same rungs
  EXPECT_TRUE(chosen_of(records).whole_climb.empty());
  EXPECT_EQ(whole_climb_svg(chosen_of(records)), "");
  EXPECT_EQ(operator_tables(chosen_of(records)).find("whole_climb"), std::string::npos);
}

TEST(WholeClimb, OtherShapesModesAndMachinesDoNotBelongToIt) {
  std::vector<Record> records = {made_up_record(1 << 20), halves(), halves(), halves(), halves()};
  records[1].the_case.shape = {{"n", 1 << 21}};
  records[2].mode = "sustained";
  records[3].machine = "NVIDIA H100";
  records[4].operator_name = "other";
  EXPECT_TRUE(chosen_of(records).whole_climb.empty());
}

TEST(WholeClimb, TheMachineWithTheMostLaddersIsDrawn) {
  std::vector<Record> records = {made_up_record(1 << 20), made_up_record(1 << 20), halves()};
  for (RecordRow& row : records[0].rows) row.gbps *= 2;  // the fastest machine's climb is drawn by itself
  for (const std::size_t i : {1u, 2u}) {
    records[i].machine = "NVIDIA H100";
    records[i].gpu = "h100";
  }
  const OperatorRecords of = chosen_of(records);
  ASSERT_EQ(of.whole_climb.size(), 2u);
  EXPECT_EQ(of.whole_climb[0]->machine, "NVIDIA H100");
  EXPECT_EQ(of.climb->machine, "NVIDIA H200");
}

}  // namespace
}  // namespace rooftile::lab
