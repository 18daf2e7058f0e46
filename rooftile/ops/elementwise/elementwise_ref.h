// The reference of elementwise: plain loops, and a bound for the error of each element.
#pragma once

#include <span>
#include <vector>

#include "rooftile/core/case.h"

namespace rooftile {

[[nodiscard]] Result<std::vector<Expected>> elementwise_reference(const Case& c,
                                                                  std::span<const HostTensor> inputs);

struct ElementwiseArgs;

// The arguments of a case, with views of these tensors, or without tensors.
[[nodiscard]] ElementwiseArgs elementwise_args(const Case& c, std::span<const HostTensor> inputs);

}  // namespace rooftile
