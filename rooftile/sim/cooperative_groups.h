// Cooperative groups of the simulated SM: the grid, the cluster, the block, and groups within a warp. Tiles of
// more than a warp are not there.
#pragma once

#include "rooftile/sim/cooperative_groups/block.h"
#include "rooftile/sim/cooperative_groups/lanes.h"
#include "rooftile/sim/cooperative_groups/partition.h"
#include "rooftile/sim/cooperative_groups/reduce.h"
