// The same of the newest CUB, where the build was told where it is (ROOFTILE_CCCL_DIR).
#define ROOFTILE_NEWEST_CUB
#include "rooftile/ops/histogram/histogram_peers_cub.cu"
