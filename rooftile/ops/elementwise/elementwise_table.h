// The rungs of elementwise, in the order of the climb, and which of them a call takes.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/elementwise/elementwise.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<ElementwiseArgs>> elementwise_rung_table();
[[nodiscard]] std::string_view elementwise_choose(const ElementwiseArgs& args,
                                                  const DeviceProperties& device);

}  // namespace rooftile
