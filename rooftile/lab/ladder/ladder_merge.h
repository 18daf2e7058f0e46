// Ladder records (JSON schema 2, or 1 of older ones) of many cases in one file, and peers that a program of their own measured.
#pragma once

#include <string>
#include <string_view>

#include "rooftile/core/status.h"
#include "rooftile/lab/ladder/ladder.h"

namespace rooftile::lab {

// Empty, or why the text is no ladder record of this operator.
[[nodiscard]] Status check_ladder_record(std::string_view text, std::string_view operator_name);

// `kept` with the results of `fresh` in it: one of the same case, device and mode takes the old one's place,
// the others follow. Machine, command, commit and digest of the file are those of `fresh`; every result has
// its own command and commit, every row its sources, and names its machine where that was another. An error where `kept` is no record of this operator.
[[nodiscard]] Result<std::string> merge_ladders(std::string_view kept, std::string_view fresh);

// Adds the peers of a record to the results of the same case and mode, marked as measured in another process:
// their times were not interleaved with ours, so they take part in no verdict. `text` is a record of schema 1
// of which operator, and per result mode, the case's shape, dtype and params, and of each row rung, kind,
// verified, reason and time_us are read. The number of rows added; an error where the text is no such record,
// or holds a time that is not verified.
[[nodiscard]] Result<int> add_peer_rows(LadderReport& report, std::string_view text);

}  // namespace rooftile::lab
