// The kernels and host functions of access_neighbors: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"

ROOFTILE_RUNG(access_neighbors, AccessNeighborsArgs, loads_by_lane)
ROOFTILE_RUNG(access_neighbors, AccessNeighborsArgs, shuffles)
ROOFTILE_RUNG(access_neighbors, AccessNeighborsArgs, turned_stores)
ROOFTILE_RUNG(access_neighbors, AccessNeighborsArgs, vector_stores)

ROOFTILE_CPU_RUNG(access_neighbors, AccessNeighborsArgs, serial)
