// The kernels and host functions of transpose: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/ops/transpose/transpose.h"

ROOFTILE_RUNG(transpose, TransposeArgs, naive_coalesced_read)
ROOFTILE_RUNG(transpose, TransposeArgs, naive_coalesced_write)
ROOFTILE_RUNG(transpose, TransposeArgs, shared_tile)
ROOFTILE_RUNG(transpose, TransposeArgs, padded_tile)
ROOFTILE_RUNG(transpose, TransposeArgs, vectorized)
ROOFTILE_RUNG(transpose, TransposeArgs, swizzled)
ROOFTILE_RUNG(transpose, TransposeArgs, tma)
ROOFTILE_RUNG(transpose, TransposeArgs, element_tiles)
ROOFTILE_RUNG(transpose, TransposeArgs, shifted_tiles)
ROOFTILE_RUNG(transpose, TransposeArgs, few_rows)
ROOFTILE_RUNG(transpose, TransposeArgs, few_columns)
ROOFTILE_RUNG(transpose, TransposeArgs, whole_matrices)
ROOFTILE_RUNG(transpose, TransposeArgs, tile_pairs)
ROOFTILE_RUNG(transpose, TransposeArgs, strided_items)

ROOFTILE_CPU_RUNG(transpose, TransposeArgs, naive)
ROOFTILE_CPU_RUNG(transpose, TransposeArgs, blocked)
ROOFTILE_CPU_RUNG(transpose, TransposeArgs, threaded)
