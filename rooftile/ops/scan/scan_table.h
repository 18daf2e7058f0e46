// The rung table of scan, and which of them serves a call.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/scan/scan.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<ScanArgs>> scan_rung_table();
[[nodiscard]] std::string_view scan_choose(const ScanArgs& args, const DeviceProperties& device);

}  // namespace rooftile
