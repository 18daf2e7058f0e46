// The rung table of gemm, and which of them serves a call.
#pragma once

#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/gemm/gemm.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<GemmArgs>> gemm_rung_table();
[[nodiscard]] std::string_view gemm_choose(const GemmArgs& args, const DeviceProperties& device);

}  // namespace rooftile
