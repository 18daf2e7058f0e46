// What a recorded row depends on, and when it is stale.
#include "rooftile/lab/base/source_parts.h"

#include <gtest/gtest.h>

#include "rooftile/lab/base/record_layout.h"
#include "rooftile/lab/ladder/row_sources.h"

namespace rooftile::lab {
namespace {

constexpr SourceEntry kPresent[] = {{"fake", "naive", "kernel", "k1"}, {"fake", "naive", "plan", "p1"},
                                    {"fake", "naive", "flags", "f1"},  {"fake", "cub", "peer", "c1"},
                                    {"fake", "-", "choose", "h1"},     {"fake", "-", "flags", "f0"},
                                    {"fake", "-", "timing", "2"},      {"other", "naive", "kernel", "o1"}};

std::vector<std::string> stale(const SourceParts& recorded, std::string_view name = "naive",
                               std::string_view peer = "") {
  return stale_parts(recorded, "fake", name, peer, kPresent);
}

using Parts = std::vector<std::string>;

TEST(SourceParts, OnlyWhatChangedIsStale) {
  EXPECT_EQ(stale({{"kernel", "k1"}, {"plan", "p1"}, {"flags", "f1"}, {"timing", "2"}}), Parts());
  EXPECT_EQ(stale({{"kernel", "k0"}, {"plan", "p1"}, {"flags", "f1"}, {"timing", "1"}}),
            (Parts{"kernel", "timing"}));
  EXPECT_EQ(stale({{"plan", "p1"}, {"choose", "h0"}}), Parts{"choose"});
}

TEST(SourceParts, ARatioGoesStaleWithItsPeer) {
  EXPECT_EQ(stale({{"kernel", "k1"}, {"peer", "c1"}}, "naive", "cub"), Parts());
  EXPECT_EQ(stale({{"kernel", "k1"}, {"peer", "c0"}}, "naive", "cub"), Parts{"peer"});
  EXPECT_EQ(stale({{"peer", "c0"}}, "cub"), Parts{"peer"});
}

TEST(SourceParts, APartOfNoOneElseIsTheOperators) {
  EXPECT_EQ(find_digest(kPresent, "fake", "stream bound", "flags"), "f0");
  EXPECT_EQ(find_digest(kPresent, "fake", "naive", "flags"), "f1");
  EXPECT_EQ(find_digest(kPresent, "none", "naive", "flags"), "unknown");
}

TEST(SourceParts, ARungThatWentAndARowWithoutSourcesAreStale) {
  EXPECT_EQ(stale({{"kernel", "k1"}}, "gone"), Parts{"kernel"});
  EXPECT_EQ(stale({}), Parts{"unrecorded"});
}

Parts parts_of(const LadderRow& row, bool takes_turns = false) {
  Parts parts;
  for (const SourcePart& source : row_sources("fake", row, takes_turns)) parts.push_back(source.part);
  return parts;
}

TEST(RowSources, AreWhatTheRowDependsOn) {
  LadderRow row;
  row.rung = "naive";
  row.kind = "rung";
  row.status = RowStatus::skipped;
  EXPECT_EQ(parts_of(row), Parts{"plan"});
  EXPECT_EQ(parts_of(row, true), Parts{"plan"});
  row.status = RowStatus::failed;
  EXPECT_EQ(parts_of(row), (Parts{"kernel", "plan"}));
  row.status = RowStatus::ok;
  row.time = RowTime{};
  EXPECT_EQ(parts_of(row), (Parts{"kernel", "plan", "flags", "timing"}));
  EXPECT_EQ(parts_of(row, true), (Parts{"kernel", "plan", "flags", "timing", "turns"}));
  row.chosen = true;
  row.ratio_to_peer = Interval{1, 1, 1};
  EXPECT_EQ(parts_of(row), (Parts{"kernel", "plan", "flags", "timing", "choose", "peer"}));
  EXPECT_EQ(parts_of(row, true), (Parts{"kernel", "plan", "flags", "timing", "turns", "choose", "peer"}));
  row = {};
  row.kind = "bound";
  EXPECT_EQ(parts_of(row), (Parts{"flags", "timing"}));
  row.time = RowTime{};
  EXPECT_EQ(parts_of(row, true), (Parts{"flags", "timing", "turns"}));
  row.kind = "peer";
  row.time = RowTime{};
  EXPECT_EQ(parts_of(row), (Parts{"peer", "flags", "timing"}));
  EXPECT_EQ(parts_of(row, true), (Parts{"peer", "flags", "timing", "turns"}));
}

TEST(RecordLayout, ARowIsALine) {
  EXPECT_EQ(
      record_layout(R"({"a":{"b":[1,2.5],"c":"x\"y"},"rows":[{"t":[1,2],"n":null},{}],"e":[]})"),
      "{\n \"a\": {\"b\": [1, 2.5], \"c\": \"x\\\"y\"},\n \"rows\": [\n  {\"t\": [1, 2], \"n\": null},\n"
      "  {}\n ],\n \"e\": []\n}\n");
}

}  // namespace
}  // namespace rooftile::lab
