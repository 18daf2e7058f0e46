// Programs that the lab runs: with a time limit, and what they wrote.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/status.h"

namespace rooftile::lab {

struct ProcessResult {
  int exit_code = 0;  // 128 + the signal where it died of one
  bool timed_out = false;
  std::string out;
  std::string err;
};

// Runs argv[0], a path, with stdin empty, and waits. After `timeout_s` seconds, or when this program is told
// to end, the process and all that it started are ended. An error where it could not be started.
[[nodiscard]] Result<ProcessResult> run_process(const std::vector<std::string>& argv, double timeout_s);

// The first executable file `name` in $PATH, then in `folders`; empty where there is none.
[[nodiscard]] std::string find_program(const std::string& name, const std::vector<std::string>& folders);

// The file that this program runs from.
[[nodiscard]] Result<std::string> own_path();

}  // namespace rooftile::lab
