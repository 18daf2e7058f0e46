// The rungs of transpose, in the order of the climb, and which of them a call takes.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/operator.h"

namespace rooftile {

[[nodiscard]] std::vector<RungRow> transpose_rung_table();
[[nodiscard]] std::string transpose_choose(const AnyArgs& args, const DeviceProperties& device);

}  // namespace rooftile
