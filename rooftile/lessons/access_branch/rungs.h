// The kernels and host functions of access_branch: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_branch/access_branch.h"

ROOFTILE_RUNG(access_branch, AccessBranchArgs, branch_per_lane)
ROOFTILE_RUNG(access_branch, AccessBranchArgs, branch_per_warp)
ROOFTILE_RUNG(access_branch, AccessBranchArgs, both_ways_and_select)
ROOFTILE_RUNG(access_branch, AccessBranchArgs, pair_per_thread)

ROOFTILE_CPU_RUNG(access_branch, AccessBranchArgs, serial)
