#include "tests/device/scan_functor.h"

namespace rooftile {
namespace {

TEST(ScanFunctor, AScanOfOnesOwnRunsOnTheSimulatedSm) {
  testing_scan::expect_compositions(kSim, &sim::compose, &sim::compose_workspace);
}

}  // namespace
}  // namespace rooftile
