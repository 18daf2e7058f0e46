// Ladder records (JSON schema 2, or 1 of older ones) of many cases in one file.
#pragma once

#include <string>
#include <string_view>

#include "rooftile/core/status.h"

namespace rooftile::lab {

// Empty, or why the text is no ladder record of this operator.
[[nodiscard]] Status check_ladder_record(std::string_view text, std::string_view operator_name);

// `kept` with the results of `fresh` in it: one of the same case, device and mode takes the old one's place,
// the others follow. Machine, command, commit and digest of the file are those of `fresh`; every result has
// its own command and commit, every row its sources, and names its machine where that was another. An error where `kept` is no record of this operator.
[[nodiscard]] Result<std::string> merge_ladders(std::string_view kept, std::string_view fresh);

}  // namespace rooftile::lab
