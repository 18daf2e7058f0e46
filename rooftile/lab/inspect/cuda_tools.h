// The CUDA toolkit's programs, where they are here.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/lab/base/subprocess.h"

namespace rooftile::lab {

// On PATH, then in $CUDA_HOME/bin, $CUDA_PATH/bin and, where neither variable is set, /usr/local/cuda/bin;
// empty where it is in none of them.
[[nodiscard]] std::string find_cuda_tool(const std::string& name);

// Runs a tool with a time limit; `unavailable` where it does not end.
[[nodiscard]] Result<ProcessResult> run_cuda_tool(const std::string& tool, std::vector<std::string> args);

}  // namespace rooftile::lab
