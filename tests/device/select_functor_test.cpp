#include "tests/device/select_functor.h"

namespace rooftile {
namespace {

TEST(SelectFunctor, AConditionOfOnesOwnRunsOnTheSimulatedSm) {
  testing_select::expect_odd_numbers(kSim, &sim::select_odd, &sim::select_odd_workspace);
}

}  // namespace
}  // namespace rooftile
