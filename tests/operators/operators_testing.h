// Tests of every operator, once for each under its name: "Forward/Ladders.HaveNoMistakes/reduce". ctest labels
// them by that name, and `rt test --op reduce` runs them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "rooftile/core/registry.h"
#include "tests/sim/lane_orders.h"

namespace rooftile::operators_testing {

inline const Registry& registry() {
  static const Registry all = [] {
    Registry made;
    register_all_operators(made);
    register_all_lessons(made);
    register_all_cases(made);
    return made;
  }();
  return all;
}

inline std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const OperatorDescriptor* op : registry().operators()) names.push_back(op->name);
  return names;
}

inline std::string operator_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

// A test of one operator: its descriptor and its cases.
class OperatorTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    op_ = registry().find(GetParam());
    cases_ = registry().cases(GetParam());
    ASSERT_NE(op_, nullptr);
    ASSERT_NE(cases_, nullptr) << "no cases";
  }

  const OperatorDescriptor* op_ = nullptr;
  const OperatorCases* cases_ = nullptr;
};

// The same in one lane order of the simulated SM, which stands in front of the test's name.
using OrderedOperator = std::tuple<simt::LaneOrder, std::string>;

class OperatorOrderTest : public ::testing::TestWithParam<OrderedOperator> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(simt::set_executor_config({.order = order(), .seed = 5}).ok());
    op_ = registry().find(std::get<1>(GetParam()));
    cases_ = registry().cases(std::get<1>(GetParam()));
    ASSERT_NE(op_, nullptr);
    ASSERT_NE(cases_, nullptr) << "no cases";
  }
  void TearDown() override { ASSERT_TRUE(simt::set_executor_config({}).ok()); }

  static simt::LaneOrder order() { return std::get<0>(GetParam()); }

  const OperatorDescriptor* op_ = nullptr;
  const OperatorCases* cases_ = nullptr;
};

inline auto every_operator_in(simt::LaneOrder order) {
  return ::testing::Combine(::testing::Values(order), ::testing::ValuesIn(operator_names()));
}
inline std::string ordered_operator_name(const ::testing::TestParamInfo<OrderedOperator>& info) {
  return std::get<1>(info.param);
}

}  // namespace rooftile::operators_testing
