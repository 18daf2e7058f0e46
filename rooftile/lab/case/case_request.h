// What a caller asks for, as a case: an operator's default with some of it changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/case.h"
#include "rooftile/core/operator.h"

namespace rooftile::lab {

// What the caller changes of an operator's default case.
struct CaseRequest {
  std::vector<std::pair<std::string, std::string>> shape;  // key, count
  std::optional<DType> dtype;
  std::vector<std::pair<std::string, std::string>> args;  // parameter, value
  std::optional<Fill> fill;
  std::optional<int> offset;
  std::optional<std::uint64_t> seed;
  bool in_place = false;
};
// The default case of a device with the caller's changes. A shape is changed as a whole: it names the keys of one of
// the operator's shapes. An error names those, and the nearest parameter.
[[nodiscard]] Result<Case> make_case(const OperatorDescriptor& op, const OperatorCases& cases,
                                     const CaseRequest& request, DeviceKind kind);

// The case itself where it holds at most so many bytes, else the largest quick-tier case of the same dtype
// and parameters; none where there is no such case.
[[nodiscard]] std::optional<Case> simulated_case(const OperatorCases& cases, const Case& wanted,
                                                 double limit_bytes);

}  // namespace rooftile::lab
