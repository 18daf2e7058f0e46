#include "tests/device/sm90a_rows_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Sim, Sm90aRows, ::testing::ValuesIn(sim_targets(sim::row_test_kernels())),
                         target_name<RowKernels>);

}  // namespace rooftile::testing_sm90a
