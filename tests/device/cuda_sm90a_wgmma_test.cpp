#include "tests/device/sm90a_wgmma_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Cuda, Sm90aWgmma, ::testing::ValuesIn(cuda_targets(cuda::wgmma_test_kernels())),
                         target_name<WgmmaKernels>);

}  // namespace rooftile::testing_sm90a
