// The rung table of gemm, and which of them serves a call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/ops/gemm/gemm.h"

namespace rooftile {

[[nodiscard]] std::vector<Rung<GemmArgs>> gemm_rung_table();
[[nodiscard]] std::string_view gemm_choose(const GemmArgs& args, const DeviceProperties& device);
// The models' reasons. Of 16 bits there is a model of sm_90a's rungs alone.
[[nodiscard]] std::string gemm_explain(const GemmArgs& args, const DeviceProperties& device);

}  // namespace rooftile
