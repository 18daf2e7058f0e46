// The rungs of softmax, and which of them a call takes.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/softmax/softmax.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<SoftmaxArgs>> softmax_rung_table();
[[nodiscard]] std::string_view softmax_choose(const SoftmaxArgs& args, const DeviceProperties& device);

}  // namespace rooftile
