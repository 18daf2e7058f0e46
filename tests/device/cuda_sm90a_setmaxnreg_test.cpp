#include "tests/device/sm90a_setmaxnreg_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Cuda, Sm90aSetmaxnreg,
                         ::testing::ValuesIn(cuda_targets(cuda::setmaxnreg_test_kernels())),
                         target_name<SetmaxnregKernels>);

}  // namespace rooftile::testing_sm90a
