// The rung table of reduce.
#pragma once

#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/reduce/reduce.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<ReduceArgs>> reduce_rung_table();

}  // namespace rooftile
