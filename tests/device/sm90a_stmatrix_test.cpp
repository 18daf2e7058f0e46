#include "tests/device/sm90a_stmatrix_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Sim, Sm90aStmatrix, ::testing::ValuesIn(sim_targets(sim::stmatrix_test_kernels())),
                         target_name<StmatrixKernels>);

}  // namespace rooftile::testing_sm90a
