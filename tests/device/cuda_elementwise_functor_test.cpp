#include "tests/device/elementwise_functor.h"

namespace rooftile {
namespace {

TEST(CudaElementwiseFunctor, AFactoryAndThreeDtypesOnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << cuda_availability().message();
  testing_elementwise::expect_blend(cuda_device(0), &cuda::blend);
}
TEST(CudaElementwiseFunctor, TwoElementsAtATimeOfViewsOnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << cuda_availability().message();
  testing_elementwise::expect_product(cuda_device(0), &cuda::product);
}

}  // namespace
}  // namespace rooftile
