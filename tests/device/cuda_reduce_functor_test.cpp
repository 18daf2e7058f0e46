#include "tests/device/reduce_functor.h"

namespace rooftile {
namespace {

TEST(CudaReduceFunctor, AReductionOfOnesOwnRunsOnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << cuda_availability().message();
  testing_reduce::expect_root_of_squares(cuda_device(0), &cuda::root_of_squares,
                                         &cuda::root_of_squares_workspace);
}

}  // namespace
}  // namespace rooftile
