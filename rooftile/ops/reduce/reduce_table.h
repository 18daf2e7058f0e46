// The rung table of reduce.
#pragma once

#include <vector>

#include "rooftile/core/operator.h"

namespace rooftile {

[[nodiscard]] std::vector<RungRow> reduce_rung_table();

}  // namespace rooftile
