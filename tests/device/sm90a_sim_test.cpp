// The simulated SM's side of the sm90a tests, and its own promises: what comes as late as is legal, and what
// is caught.
#include "rooftile/sim/config.h"
#include "tests/device/sm90a_testing.h"

namespace rooftile::testing_sm90a {

void set_lane_order(const std::string& order) {
  simt::ExecutorConfig config;
  ASSERT_TRUE(is_ok(simt::parse_lane_order(order, config)));
  ASSERT_TRUE(is_ok(simt::set_executor_config(config)));
}

}  // namespace rooftile::testing_sm90a
