#include "rooftile/core/registry.h"

#include <gtest/gtest.h>

#include <string>

namespace rooftile {
namespace {

OperatorDescriptor named(const std::string& name) {
  OperatorDescriptor op;
  op.name = name;
  return op;
}

TEST(Registry, ListsByNameAndFinds) {
  const OperatorDescriptor softmax = named("softmax");
  const OperatorDescriptor gemm = named("gemm");
  const OperatorDescriptor reduce = named("reduce");
  Registry registry;
  registry.add(softmax);
  registry.add(gemm);
  registry.add(reduce);
  registry.add(reduce);
  ASSERT_EQ(registry.operators().size(), 3u);
  EXPECT_EQ(registry.operators()[0], &gemm);
  EXPECT_EQ(registry.operators()[1], &reduce);
  EXPECT_EQ(registry.operators()[2], &softmax);
  EXPECT_EQ(registry.find("reduce"), &reduce);
  EXPECT_EQ(registry.find("redu"), nullptr);
  EXPECT_EQ(*registry.get("softmax"), &softmax);
}

TEST(Registry, AnUnknownNameNamesTheNearest) {
  const OperatorDescriptor softmax = named("softmax");
  const OperatorDescriptor reduce = named("reduce");
  Registry registry;
  EXPECT_EQ(registry.get("reduce").status().rule(),
            "unknown operator \"reduce\": this program has none built in");
  registry.add(softmax);
  registry.add(reduce);
  EXPECT_EQ(registry.get("reduec").status().rule(),
            "unknown operator \"reduec\": did you mean reduce? use one of reduce, softmax");
  EXPECT_EQ(registry.get("zebra").status().rule(), "unknown operator \"zebra\": use one of reduce, softmax");
  EXPECT_EQ(registry.get("zebra").status().code(), StatusCode::invalid_argument);
}

TEST(Registry, KeepsCasesAndPeersOfEachOperator) {
  Registry registry;
  OperatorCases cases;
  cases.operator_name = "reduce";
  cases.shapes = {"n"};
  registry.add(cases);
  const OperatorCases* kept = registry.cases("reduce");
  registry.add(PeerRow{.operator_name = "reduce", .id = "cub", .version = "1"});
  registry.add(PeerRow{.operator_name = "gemm", .id = "cublas", .version = "2"});
  registry.add(PeerRow{.operator_name = "reduce", .id = "cub", .version = "3"});
  for (int i = 0; i < 100; ++i) {
    OperatorCases more;
    more.operator_name = "op" + std::to_string(i);
    registry.add(more);
  }
  EXPECT_EQ(registry.cases("reduce"), kept);  // addresses stay
  EXPECT_EQ(kept->shapes.size(), 1u);
  EXPECT_EQ(registry.cases("gemm"), nullptr);
  ASSERT_EQ(registry.peers("reduce").size(), 1u);
  EXPECT_EQ(registry.peers("reduce")[0]->version, "1");
  EXPECT_TRUE(registry.peers("softmax").empty());
}

}  // namespace
}  // namespace rooftile
