#include "tests/device/sm90a_look_ahead_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Sim, Sm90aLookAhead,
                         ::testing::ValuesIn(sim_targets(sim::look_ahead_test_kernels())),
                         target_name<LookAheadKernels>);

}  // namespace rooftile::testing_sm90a
