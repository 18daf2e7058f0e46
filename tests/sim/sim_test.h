// What the simulator's tests share: the stream, every lane order, and messages in failures.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/sim/config.h"
#include "tests/sim/kernels.h"

namespace rooftile::sim_testing {

inline const StreamRef kStream{kSim, nullptr};

inline ::testing::AssertionResult is_ok(const Status& status) {
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << status.message();
}

inline ::testing::AssertionResult mentions(const Status& status, const std::string& text) {
  if (status.message().find(text) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << text << "\" is not in: " << status.message();
}

struct Schedule {
  const char* name;
  simt::LaneOrder order;
  std::uint64_t seed;
  int workers;
};

inline void PrintTo(const Schedule& schedule, std::ostream* out) { *out << schedule.name; }

inline const Schedule kSchedules[] = {
    {"forward1", simt::LaneOrder::forward, 0, 1},   {"forward4", simt::LaneOrder::forward, 0, 4},
    {"reversed1", simt::LaneOrder::reversed, 0, 1}, {"reversed3", simt::LaneOrder::reversed, 0, 3},
    {"random1", simt::LaneOrder::random, 1, 1},     {"random2", simt::LaneOrder::random, 20260, 2},
};

inline void use(const Schedule& schedule, std::chrono::milliseconds watchdog = std::chrono::seconds(20)) {
  ASSERT_TRUE(is_ok(simt::set_executor_config({schedule.order, schedule.seed, schedule.workers, watchdog})));
}

// A test in every lane order.
class EveryOrder : public ::testing::TestWithParam<Schedule> {
 protected:
  void SetUp() override { use(GetParam()); }
};

inline std::string schedule_name(const ::testing::TestParamInfo<Schedule>& info) { return info.param.name; }

}  // namespace rooftile::sim_testing
