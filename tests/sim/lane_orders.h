// Names of the lane orders, for tests that run once in each.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "rooftile/sim/config.h"

namespace rooftile::simt {

inline const char* order_name(LaneOrder order) {
  constexpr const char* kNames[] = {"forward", "reversed", "random"};
  return kNames[static_cast<int>(order)];
}

// GoogleTest finds it by the argument's namespace.
inline void PrintTo(LaneOrder order, std::ostream* out) { *out << order_name(order); }

// For INSTANTIATE_TEST_SUITE_P.
inline std::string lane_order_name(const ::testing::TestParamInfo<LaneOrder>& info) {
  return order_name(info.param);
}
inline auto every_lane_order() {
  return ::testing::Values(LaneOrder::forward, LaneOrder::reversed, LaneOrder::random);
}

}  // namespace rooftile::simt
