// The rung table of histogram, and which of them serves a call.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/histogram/histogram.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<HistogramArgs>> histogram_rung_table();
[[nodiscard]] std::string_view histogram_choose(const HistogramArgs& args, const DeviceProperties& device);

}  // namespace rooftile
