// The version of the measuring code: part of every recorded time (docs/records.md).
//
// Raise it when a change makes the same kernel show another time, and the records are stale; leave it where times stay
// what they were. Either way kTimingSources, the digest of the measuring code's tokens, must be brought up to date:
// `tools/check_timing_version`, which is a test, says to what.
#pragma once

#include <string_view>

namespace rooftile::lab {

inline constexpr int kTimingVersion = 3;
// Raised when only ladders in which a process of its own takes turns show another time.
inline constexpr int kTurnsVersion = 2;
inline constexpr std::string_view kTimingSources = "fb222f9707ca";

}  // namespace rooftile::lab
