// The kernels and host functions of access_registers: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_registers/access_registers.h"

ROOFTILE_RUNG(access_registers, AccessRegistersArgs, two_passes)
ROOFTILE_RUNG(access_registers, AccessRegistersArgs, register_array)
ROOFTILE_RUNG(access_registers, AccessRegistersArgs, tight_launch_bounds)
ROOFTILE_RUNG(access_registers, AccessRegistersArgs, indexed_array)

ROOFTILE_CPU_RUNG(access_registers, AccessRegistersArgs, serial)
