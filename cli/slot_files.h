// Which file of a command line is which tensor of an operator.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/operator.h"

namespace rooftile::cli {

// A file for each slot; empty: none. A slot that is read and written has one of either kind, and is given by name alone.
struct SlotFiles {
  std::vector<std::string> in;
  std::vector<std::string> out;
};

// `in` and `out` are files of slots in the operator's order; NAME=FILE is that slot's.
[[nodiscard]] Result<SlotFiles> files_of(const OperatorDescriptor& op, const std::vector<std::string>& in,
                                         const std::vector<std::string>& out);

}  // namespace rooftile::cli
