// The reference of softmax: plain loops in double.
#pragma once

#include <span>
#include <vector>

#include "rooftile/core/case.h"

namespace rooftile {

[[nodiscard]] Result<std::vector<Expected>> softmax_reference(const Case& c,
                                                              std::span<const HostTensor> inputs);

}  // namespace rooftile
