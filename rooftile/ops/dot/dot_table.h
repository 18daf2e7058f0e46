// The rung table of dot, and which of them serves a call.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/dot/dot.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<DotArgs>> dot_rung_table();
[[nodiscard]] std::string_view dot_choose(const DotArgs& args, const DeviceProperties& device);

}  // namespace rooftile
