#include "tests/device/scan_functor.h"

namespace rooftile {
namespace {

TEST(CudaScanFunctor, AScanOfOnesOwnRunsOnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << cuda_availability().message();
  testing_scan::expect_compositions(cuda_device(0), &cuda::compose, &cuda::compose_workspace);
}

}  // namespace
}  // namespace rooftile
