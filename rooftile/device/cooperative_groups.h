// Cooperative groups on every target: `namespace cg = cooperative_groups;` inside the target namespace. The
// subset is that of rooftile/sim/cooperative_groups.h.
#pragma once

#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/cooperative_groups.h"
#else
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#endif
