// The drawing of a climb.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "rooftile/lab/ladder/record_table.h"
#include "tests/lab/made_up_records.h"

namespace rooftile::lab {
namespace {

using test::chosen_of;
using test::made_up_peer;
using test::made_up_record;
using test::made_up_row;

// The number behind `key` in the element that holds `words`.
double number_in(const std::string& svg, const std::string& words, const std::string& key) {
  const std::size_t at = svg.find(words);
  EXPECT_NE(at, std::string::npos) << words << "\nis not in\n" << svg;
  const std::size_t start = svg.rfind('<', at);
  const std::size_t value = svg.find(key + "=\"", start);
  EXPECT_LT(value, svg.find('>', start)) << words << " has no " << key;
  return std::strtod(svg.c_str() + value + key.size() + 2, nullptr);
}

std::vector<double> bar_widths(const std::string& svg) {
  std::vector<double> widths;
  for (const char* kind : {"<rect class=\"r\"", "<rect class=\"w\"", "<rect class=\"p\""}) {
    for (std::size_t at = 0; (at = svg.find(kind, at)) != std::string::npos; ++at) {
      const std::size_t value = svg.find("width=\"", at) + 7;
      widths.push_back(std::strtod(svg.c_str() + value, nullptr));
    }
  }
  return widths;
}

TEST(ClimbSvg, BarsAreAsLongAsTheirSharesOfTheBound) {
  const std::vector<Record> records = {made_up_record(1 << 28)};
  const std::string svg = climb_svg(chosen_of(records));
  const std::vector<double> widths = bar_widths(svg);  // naive; vectorized; cub
  ASSERT_EQ(widths.size(), 3u) << svg;
  EXPECT_NEAR(widths[0] / widths[1], 0.25 / 0.952, 1e-3);
  EXPECT_NEAR(widths[2] / widths[1], 0.909 / 0.952, 1e-3);
  EXPECT_EQ(svg, climb_svg(chosen_of(records)));
  EXPECT_EQ(climb_svg(choose_records({}, "fake", {})), "");
}

TEST(ClimbSvg, LinesOfBoundAndPeerEndTheirBars) {
  const std::vector<Record> records = {made_up_record(1 << 28)};
  const std::string svg = climb_svg(chosen_of(records));
  const auto line_at = [&svg](const std::string& kind) {
    const std::size_t at = svg.find("<path class=\"" + kind + "\" d=\"M");
    EXPECT_NE(at, std::string::npos) << kind;
    return std::strtod(svg.c_str() + svg.find("d=\"M", at) + 4, nullptr);
  };
  const double start = number_in(svg, "<rect class=\"p\"", "x");
  EXPECT_NEAR(line_at("lp"), start + bar_widths(svg)[2], 0.2);
  EXPECT_NEAR((line_at("lp") - start) / (line_at("lb") - start), 0.909, 1e-3);
}

TEST(ClimbSvg, LabelsOfTheLinesStandOnEitherSide) {
  std::vector<Record> records = {made_up_record(1 << 28)};
  for (const double share : {0.05, 0.909, 0.999, 1.0, 1.001, 1.3}) {
    records[0].rows[3] = made_up_peer("cub", 10 / share, share);
    const std::string svg = climb_svg(chosen_of(records));
    const double bound = number_in(svg, ">streaming bound 10.00 us<", "x");
    const double peer = number_in(svg, ">best peer: cub", "x");
    // The left one ends at its x, the right one begins there.
    const bool peer_is_left = share <= 1.0;
    EXPECT_EQ(svg.find("class=\"tp e\"") != std::string::npos, peer_is_left) << share;
    EXPECT_GE(peer_is_left ? bound - peer : peer - bound, 12.0) << share;
  }
}

TEST(ClimbSvg, BarsEndBeforeTheFigures) {
  std::vector<Record> records = {made_up_record(1 << 28)};
  records[0].rows[3] = made_up_peer("cub", 5, 2);
  const std::string svg = climb_svg(chosen_of(records));
  constexpr double kWidestFigure = 75;
  EXPECT_LT(number_in(svg, "<rect class=\"p\"", "x") + bar_widths(svg)[2],
            number_in(svg, ">40.00 us<", "x") - kWidestFigure);
}

TEST(ClimbSvg, NamesOfAnyLengthEndBeforeTheBars) {
  std::vector<Record> records = {made_up_record(1 << 28)};
  const std::string name(40, 'w');
  records[0].rows[0].rung = name;
  const std::string svg = climb_svg(chosen_of(records));
  const double start = number_in(svg, ">" + name + "<", "x");
  EXPECT_GE(number_in(svg, "<rect class=\"r\"", "x"), start + 40 * 7.4);
}

TEST(ClimbSvg, IsReadAloudFollowsTheThemeAndIsEscaped) {
  std::vector<Record> records = {made_up_record(1 << 28)};
  records[0].the_case.params = {{"op", "a<b&c"}};
  records[0].rows[0].stale = true;
  const std::string svg = climb_svg(chosen_of(records));
  EXPECT_EQ(svg.find("a<b"), std::string::npos);
  for (const char* part :
       {"op=a&lt;b&amp;c", "<title id=\"t\">The climb of fake on NVIDIA H200</title>",
        "vectorized, which the library chooses, at 0.952; the best peer, cub, at 0.909",
        "@media(prefers-color-scheme:dark)", "40.00 us†", "† measured from other sources"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part << "\nis not in\n" << svg;
  }
}

TEST(ClimbSvg, ALongLadderStaysSmall) {
  std::vector<Record> records = {made_up_record(1 << 28)};
  for (int i = 0; i < 24; ++i) {
    records[0].rows.push_back(made_up_row("a_mechanism_of_length_" + std::to_string(i), 20, 0.5));
  }
  EXPECT_LT(climb_svg(chosen_of(records)).size(), 12u * 1024);
}

TEST(ClimbSvg, WithoutABoundTheFastestIsTheMeasure) {
  std::vector<Record> records = {made_up_record(1 << 28)};
  records[0].rows.pop_back();
  for (RecordRow& row : records[0].rows) row.bound_fraction = 0;
  const std::string svg = climb_svg(chosen_of(records));
  EXPECT_NE(svg.find(">share of the fastest<"), std::string::npos);
  EXPECT_NE(svg.find(">1.000<"), std::string::npos);
  EXPECT_EQ(svg.find("streaming bound"), std::string::npos);
}

}  // namespace
}  // namespace rooftile::lab
