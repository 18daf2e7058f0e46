// Nsight Compute's figures of an operator's rungs, side by side: a table of its README.
//
// From recorded profiles that hold more than what is compared with the simulated SM: `rooftile profile OP --shape ...`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rooftile/lab/base/source_parts.h"
#include "rooftile/lab/profile/profile_record.h"

namespace rooftile::lab {

// Markdown with its heading, a table for every recorded case; empty where there is none. Of a rung with several kernels the longest is
// shown. Rows of other sources than `present` are marked.
[[nodiscard]] std::string ncu_figures(const std::vector<RecordedProfile>& profiles,
                                      std::string_view operator_name,
                                      SourceTable present = present_sources());

}  // namespace rooftile::lab
