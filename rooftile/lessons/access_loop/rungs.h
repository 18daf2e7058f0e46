// The kernels and host functions of access_loop: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_loop/access_loop.h"

ROOFTILE_RUNG(access_loop, AccessLoopArgs, trips_per_lane)
ROOFTILE_RUNG(access_loop, AccessLoopArgs, trips_per_warp_strided)
ROOFTILE_RUNG(access_loop, AccessLoopArgs, trips_per_warp_shared)

ROOFTILE_CPU_RUNG(access_loop, AccessLoopArgs, serial)
