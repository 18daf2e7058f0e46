// The rung table of gemv, and which of them serves a call.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/gemv/gemv.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<GemvArgs>> gemv_rung_table();
[[nodiscard]] std::string_view gemv_choose(const GemvArgs& args, const DeviceProperties& device);

}  // namespace rooftile
