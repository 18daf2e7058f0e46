// The parameters of reduce as the command line, JSON and cases write them.
#pragma once

#include <optional>
#include <vector>

#include "rooftile/core/params.h"
#include "rooftile/ops/reduce/reduce.h"

namespace rooftile::reduce_params {

[[nodiscard]] std::vector<ParamSpec> specs();
[[nodiscard]] ReduceOp op(const Params& params);
[[nodiscard]] std::optional<int> axis(const Params& params);
// The caller's choice, or the default for the op and this input.
[[nodiscard]] Result<DType> out_dtype(const Params& params, DType in);

}  // namespace rooftile::reduce_params
