// The launch that a profiler looks at: one rung, once, on inputs on which it was verified just before.
#pragma once

#include <string>
#include <string_view>

#include "rooftile/core/registry.h"
#include "rooftile/lab/case/case_request.h"

namespace rooftile::lab {

struct LaunchOptions {
  CaseRequest request;
  Device device;
  // In place of the GPU's default case the one that the simulated
  // SM takes, so that counts can be compared one by one.
  bool simulated_case = false;
};

// What was launched: enough to do it again, elsewhere.
struct ProfiledLaunch {
  CaseRequest the_case;  // complete: every extent and parameter
  std::string gpu;
  int compute_capability = 0;
  int multiprocessors = 0;  // for which the rung planned its grid
};

// Verifies the rung, then launches it once between start and stop of the
// profiler's range. Without a --shape, a rung that does not serve the device's
// default case gets the first that it serves of those that the simulated SM takes.
[[nodiscard]] Result<ProfiledLaunch> launch_for_profiler(const Registry& registry,
                                                         const OperatorDescriptor& op,
                                                         const std::string& rung,
                                                         const LaunchOptions& options);

// One line of JSON, and back.
[[nodiscard]] std::string launch_json(const ProfiledLaunch& launch);
[[nodiscard]] Result<ProfiledLaunch> parse_launch(std::string_view text);

}  // namespace rooftile::lab
