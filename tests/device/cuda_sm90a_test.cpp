#include "tests/device/sm90a_testing.h"

namespace rooftile::testing_sm90a {

void set_lane_order(const std::string&) {}

}  // namespace rooftile::testing_sm90a
