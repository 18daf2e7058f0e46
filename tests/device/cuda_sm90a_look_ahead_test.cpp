#include "tests/device/sm90a_look_ahead_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Cuda, Sm90aLookAhead,
                         ::testing::ValuesIn(cuda_targets(cuda::look_ahead_test_kernels())),
                         target_name<LookAheadKernels>);

}  // namespace rooftile::testing_sm90a
