// Nsight Compute's command line, run on a program of ours.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/lab/profile/ncu_csv.h"

namespace rooftile::lab {

struct NcuOptions {
  std::string ncu;                       // its path
  std::vector<std::string> application;  // whose kernels between start and stop of the profiler's range count
  double timeout_s = 120;
};

struct NcuRun {
  std::vector<NcuKernel> kernels;  // at least one
  std::string application_out;
};

// Where ncu is: in $PATH, in a CUDA toolkit, in Nsight Compute's own folder. StatusCode::unavailable with
// what to install where it is nowhere.
[[nodiscard]] Result<std::string> find_ncu();

// Caches are flushed before every pass over a kernel; the clocks are left alone. Failures come in one line:
// the application's own words where it failed ("rooftile: ..." on stderr, with the code that its exit code
// stands for), ncu's first error otherwise.
[[nodiscard]] Result<NcuRun> run_ncu(const NcuOptions& options);

}  // namespace rooftile::lab
