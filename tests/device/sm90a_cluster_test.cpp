#include "tests/device/sm90a_cluster_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Sim, Sm90aCluster, ::testing::ValuesIn(sim_targets(sim::cluster_test_kernels())),
                         target_name<ClusterKernels>);

}  // namespace rooftile::testing_sm90a
