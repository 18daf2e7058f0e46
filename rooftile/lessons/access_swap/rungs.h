// The kernels and host functions of access_swap: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_swap/access_swap.h"

ROOFTILE_RUNG(access_swap, AccessSwapArgs, missing_syncwarp)
ROOFTILE_RUNG(access_swap, AccessSwapArgs, syncwarp)
ROOFTILE_RUNG(access_swap, AccessSwapArgs, exchange_by_shuffle)

ROOFTILE_CPU_RUNG(access_swap, AccessSwapArgs, serial)
