// The kernels and host functions of access_copy: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_copy/access_copy.h"

ROOFTILE_RUNG(access_copy, AccessCopyArgs, one_per_thread)
ROOFTILE_RUNG(access_copy, AccessCopyArgs, float2)
ROOFTILE_RUNG(access_copy, AccessCopyArgs, float4)
ROOFTILE_RUNG(access_copy, AccessCopyArgs, float4_four_in_flight)

ROOFTILE_CPU_RUNG(access_copy, AccessCopyArgs, serial)
