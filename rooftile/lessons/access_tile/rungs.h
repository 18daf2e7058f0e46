// The kernels and host functions of access_tile: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/lessons/access_tile/access_tile.h"

ROOFTILE_RUNG(access_tile, AccessTileArgs, lanes_along_columns)
ROOFTILE_RUNG(access_tile, AccessTileArgs, block_8x32)
ROOFTILE_RUNG(access_tile, AccessTileArgs, block_16x16)
ROOFTILE_RUNG(access_tile, AccessTileArgs, block_32x8)

ROOFTILE_CPU_RUNG(access_tile, AccessTileArgs, serial)
