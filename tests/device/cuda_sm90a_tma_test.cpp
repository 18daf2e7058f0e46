#include "tests/device/sm90a_tma_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Cuda, Sm90aTma, ::testing::ValuesIn(cuda_targets(cuda::tma_test_kernels())),
                         target_name<TmaKernels>);

}  // namespace rooftile::testing_sm90a
