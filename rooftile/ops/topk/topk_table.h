// The rung table of topk, and which of them serves a call.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/topk/topk.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<TopkArgs>> topk_rung_table();
[[nodiscard]] std::string_view topk_choose(const TopkArgs& args, const DeviceProperties& device);

}  // namespace rooftile
