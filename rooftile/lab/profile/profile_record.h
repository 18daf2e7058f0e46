// Profiles as JSON, schema 1: many rungs of many operators in a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/lab/profile/profile.h"

namespace rooftile::lab {

// A rung that was not profiled.
struct SkippedProfile {
  std::string operator_name;
  std::string rung;
  std::string reason;
};

// What a record holds of one profile.
struct RecordedProfile {
  std::string operator_name;
  std::string rung;
  MeasuredHalf measured;  // enough to simulate beside it again
  std::string command;
  std::string commit;
  std::string source_digest;
  std::string simulated_case;  // empty: nothing was
  bool same_case = false;
  std::vector<Counter> counters;
};

struct ProfileRecord {
  std::vector<RecordedProfile> profiles;
  std::vector<SkippedProfile> skipped;
};

// `command` is the command line that made it. What was
// recorded before keeps its own command, commit and digest.
[[nodiscard]] std::string profiles_json(const std::vector<Profile>& profiles,
                                        const std::vector<SkippedProfile>& skipped,
                                        const std::string& command);

// An error where the text is no such record.
[[nodiscard]] Result<ProfileRecord> parse_profiles(std::string_view text);

}  // namespace rooftile::lab
