// How far the simulated SM's counters are from a GPU's: the tables of docs/calibration.md.
//
// Calibrated are recorded profiles (results/<gpu>/profile_*.json, profile_record.h) whose case and grid the
// simulated SM repeated (same_case). A counter that is off by more than kAgreement needs an explanation, and an
// explanation a counter that is off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/lab/base/source_parts.h"
#include "rooftile/lab/profile/profile_record.h"

namespace rooftile::lab {

// Why some counters of a rung differ, as a person found out.
struct Explanation {
  std::string rung;  // OP/RUNG
  std::vector<std::string> counters;
  std::string reason;
};
// A line each: rung, counters divided by commas, reason,
// divided by tabs; lines with # in front are passed over.
[[nodiscard]] Result<std::vector<Explanation>> parse_explanations(std::string_view text);

// All profiles under root/results, by path; records of another kind are passed over.
[[nodiscard]] Result<std::vector<RecordedProfile>> read_profiles(const std::string& root);

struct SimCalibration {
  std::string markdown;
  // A line each: deviations that nobody explained, explanations of what does not deviate.
  std::vector<std::string> problems;
};
// Profiles of other sources than `present` are named as stale.
[[nodiscard]] SimCalibration sim_calibration(const std::vector<RecordedProfile>& profiles,
                                             const std::vector<Explanation>& explanations,
                                             SourceTable present = present_sources());

}  // namespace rooftile::lab
