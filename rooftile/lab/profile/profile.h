// One launch of a rung on a GPU under Nsight Compute, and the same on the simulated SM beside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/lab/profile/ncu_csv.h"
#include "rooftile/lab/profile/profile_counters.h"
#include "rooftile/lab/profile/profile_launch.h"
#include "rooftile/lab/simulate/simulation.h"

namespace rooftile::lab {

// Up to which the simulated SM and the GPU are said to agree.
inline constexpr double kAgreement = 0.02;

struct MeasuredHalf {
  ProfiledLaunch launch;
  std::vector<NcuKernel> kernels;  // in launch order
  std::string json;                // of a record, as it stands there; empty where this run measured
};

struct ProfileOptions {
  LaunchOptions launch;
  std::string ncu;  // its path
  double timeout_s = 120;
  std::optional<MeasuredHalf> recorded;  // in place of measuring: only simulate
};

struct Profile {
  std::string operator_name;
  std::string rung;
  std::string idea;
  std::string case_name;
  MeasuredHalf measured;
  std::optional<Simulation> simulation;
  std::string no_simulation;  // why there is none
  bool same_case = false;     // simulated what was measured: counts can be compared, not only ratios
  std::vector<Counter> counters;
};

[[nodiscard]] Result<Profile> profile(const Registry& registry, const OperatorDescriptor& op,
                                      const std::string& rung, const ProfileOptions& options);

// Tables for people: a column per kernel.
[[nodiscard]] std::string profile_table(const Profile& profile, int width, bool colour);

}  // namespace rooftile::lab
