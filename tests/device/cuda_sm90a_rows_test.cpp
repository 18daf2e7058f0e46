#include "tests/device/sm90a_rows_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Cuda, Sm90aRows, ::testing::ValuesIn(cuda_targets(cuda::row_test_kernels())),
                         target_name<RowKernels>);

}  // namespace rooftile::testing_sm90a
