#include "tests/device/sm90a_bulk_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Sim, Sm90aBulk, ::testing::ValuesIn(sim_targets(sim::bulk_test_kernels())),
                         target_name<BulkKernels>);

}  // namespace rooftile::testing_sm90a
