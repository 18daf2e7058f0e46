#include "tests/device/sm90a_cluster_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Cuda, Sm90aCluster, ::testing::ValuesIn(cuda_targets(cuda::cluster_test_kernels())),
                         target_name<ClusterKernels>);

}  // namespace rooftile::testing_sm90a
