#include "tests/device/sm90a_bulk_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Cuda, Sm90aBulk, ::testing::ValuesIn(cuda_targets(cuda::bulk_test_kernels())),
                         target_name<BulkKernels>);

}  // namespace rooftile::testing_sm90a
