// The kernels and host functions of access_constant: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_constant/access_constant.h"

ROOFTILE_RUNG(access_constant, AccessConstantArgs, constant_memory)
ROOFTILE_RUNG(access_constant, AccessConstantArgs, kernel_argument)
ROOFTILE_RUNG(access_constant, AccessConstantArgs, global_table)
ROOFTILE_RUNG(access_constant, AccessConstantArgs, shared_table)

ROOFTILE_CPU_RUNG(access_constant, AccessConstantArgs, serial)
