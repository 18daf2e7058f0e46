// The kernels and host functions of access_count: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_count/access_count.h"

ROOFTILE_RUNG(access_count, AccessCountArgs, unguarded)
ROOFTILE_RUNG(access_count, AccessCountArgs, atomic_per_thread)
ROOFTILE_RUNG(access_count, AccessCountArgs, atomic_per_warp)
ROOFTILE_RUNG(access_count, AccessCountArgs, atomic_per_block)

ROOFTILE_CPU_RUNG(access_count, AccessCountArgs, serial)
