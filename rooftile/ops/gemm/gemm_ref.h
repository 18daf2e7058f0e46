// What a product must be.
#pragma once

#include <span>

#include "rooftile/core/case.h"

namespace rooftile {

[[nodiscard]] Result<Judge> gemm_judge(const Case& c, std::span<const HostTensor> inputs);

}  // namespace rooftile
