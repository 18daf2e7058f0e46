// The same of the newest CUB, where the build was told where it is (ROOFTILE_CCCL_DIR).
#define ROOFTILE_NEWEST_CUB
#include "rooftile/ops/elementwise/elementwise_peers_cub.cu"
