#include "tests/device/sm90a_tma_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Sim, Sm90aTma, ::testing::ValuesIn(sim_targets(sim::tma_test_kernels())),
                         target_name<TmaKernels>);

}  // namespace rooftile::testing_sm90a
