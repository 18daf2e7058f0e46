#include "tests/device/elementwise_functor.h"

namespace rooftile {
namespace {

TEST(ElementwiseFunctor, AFactoryAndThreeDtypesOnTheSimulatedSm) {
  testing_elementwise::expect_blend(kSim, &sim::blend);
}
TEST(ElementwiseFunctor, TwoElementsAtATimeOfViewsOnTheSimulatedSm) {
  testing_elementwise::expect_product(kSim, &sim::product);
}

}  // namespace
}  // namespace rooftile
