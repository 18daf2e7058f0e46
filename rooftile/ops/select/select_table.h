// The rung table of select, and which of them serves a call.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/select/select.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<SelectArgs>> select_rung_table();
[[nodiscard]] std::string_view select_choose(const SelectArgs& args, const DeviceProperties& device);

}  // namespace rooftile
