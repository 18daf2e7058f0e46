// The reference of gemv: what every rung is compared with.
#pragma once

#include <span>
#include <vector>

#include "rooftile/core/case.h"

namespace rooftile {

[[nodiscard]] Result<std::vector<Expected>> gemv_reference(const Case& c, std::span<const HostTensor> inputs);

}  // namespace rooftile
