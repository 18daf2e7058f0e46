// The kernels and host functions of reduce: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/ops/reduce/reduce.h"

ROOFTILE_RUNG(reduce, ReduceArgs, interleaved_divergent)
ROOFTILE_RUNG(reduce, ReduceArgs, interleaved_strided)
ROOFTILE_RUNG(reduce, ReduceArgs, sequential_addressing)
ROOFTILE_RUNG(reduce, ReduceArgs, add_on_load)
ROOFTILE_RUNG(reduce, ReduceArgs, unroll_last_warp)
ROOFTILE_RUNG(reduce, ReduceArgs, full_unroll)
ROOFTILE_RUNG(reduce, ReduceArgs, multiple_adds)
ROOFTILE_RUNG(reduce, ReduceArgs, warp_shuffle)
ROOFTILE_RUNG(reduce, ReduceArgs, vectorized)
ROOFTILE_RUNG(reduce, ReduceArgs, single_pass)
ROOFTILE_RUNG(reduce, ReduceArgs, no_allocate_loads)
ROOFTILE_RUNG(reduce, ReduceArgs, single_wave)
ROOFTILE_RUNG(reduce, ReduceArgs, warp_per_row)
ROOFTILE_RUNG(reduce, ReduceArgs, column_tiles)
ROOFTILE_RUNG(reduce, ReduceArgs, strided_gather)
ROOFTILE_RUNG(reduce, ReduceArgs, bulk_ring)

ROOFTILE_CPU_RUNG(reduce, ReduceArgs, serial)
ROOFTILE_CPU_RUNG(reduce, ReduceArgs, pairwise)
ROOFTILE_CPU_RUNG(reduce, ReduceArgs, threaded)
