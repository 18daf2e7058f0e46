#include "tests/device/select_functor.h"

namespace rooftile {
namespace {

TEST(CudaSelectFunctor, AConditionOfOnesOwnRunsOnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << cuda_availability().message();
  testing_select::expect_odd_numbers(cuda_device(0), &cuda::select_odd, &cuda::select_odd_workspace);
}

}  // namespace
}  // namespace rooftile
