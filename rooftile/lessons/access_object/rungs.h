// The kernels and host functions of access_object: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_object/access_object.h"

ROOFTILE_RUNG(access_object, AccessObjectArgs, numbers)
ROOFTILE_RUNG(access_object, AccessObjectArgs, object_by_value)
ROOFTILE_RUNG(access_object, AccessObjectArgs, object_by_pointer)
ROOFTILE_RUNG(access_object, AccessObjectArgs, virtual_on_device)

ROOFTILE_CPU_RUNG(access_object, AccessObjectArgs, serial)
