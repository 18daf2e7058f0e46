#include "rooftile/lab/inspect/cuda_tools.h"

#include <fmt/format.h>

#include <cstdlib>

namespace rooftile::lab {
namespace {

constexpr double kTimeLimit = 600;  // seconds; the largest rung compiles in 10

}  // namespace

std::string find_cuda_tool(const std::string& name) {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0')
      folders.push_back(std::string(home) + "/bin");
  }
  if (folders.empty()) folders.emplace_back("/usr/local/cuda/bin");
  return find_program(name, folders);
}

Result<ProcessResult> run_cuda_tool(const std::string& tool, std::vector<std::string> args) {
  args.insert(args.begin(), tool);
  ROOFTILE_TRY_ASSIGN(ProcessResult result, run_process(args, kTimeLimit));
  if (result.timed_out) return unavailable(fmt::format("{} did not end within {} s", tool, kTimeLimit));
  return result;
}

}  // namespace rooftile::lab
