#include "tests/device/reduce_functor.h"

namespace rooftile {
namespace {

TEST(ReduceFunctor, AReductionOfOnesOwnRunsOnTheSimulatedSm) {
  testing_reduce::expect_root_of_squares(kSim, &sim::root_of_squares, &sim::root_of_squares_workspace);
}

}  // namespace
}  // namespace rooftile
