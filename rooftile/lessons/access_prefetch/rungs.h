// The kernels and host functions of access_prefetch: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"

ROOFTILE_RUNG(access_prefetch, AccessPrefetchArgs, no_prefetch)
ROOFTILE_RUNG(access_prefetch, AccessPrefetchArgs, registers_batch)
ROOFTILE_RUNG(access_prefetch, AccessPrefetchArgs, registers_rolling)
ROOFTILE_RUNG(access_prefetch, AccessPrefetchArgs, shared_batch)
ROOFTILE_RUNG(access_prefetch, AccessPrefetchArgs, shared_rolling)
ROOFTILE_RUNG(access_prefetch, AccessPrefetchArgs, shared_padded)
ROOFTILE_RUNG(access_prefetch, AccessPrefetchArgs, async_copies)
ROOFTILE_RUNG(access_prefetch, AccessPrefetchArgs, more_warps)

ROOFTILE_CPU_RUNG(access_prefetch, AccessPrefetchArgs, serial)
