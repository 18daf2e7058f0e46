// The rungs of transpose, in the order of the climb, and which of them a call takes.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/transpose/transpose.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<TransposeArgs>> transpose_rung_table();
[[nodiscard]] std::string_view transpose_choose(const TransposeArgs& args, const DeviceProperties& device);

}  // namespace rooftile
