// Which sources decide what stands in a row (lab/base/source_parts.h).
#pragma once

#include <string_view>

#include "rooftile/lab/base/source_parts.h"
#include "rooftile/lab/ladder/ladder.h"

namespace rooftile::lab {

// Of a ladder's row: kernel, plan, flags and timing of a time; the plan alone of a rung that was skipped; the
// peer that a ratio is against; choose() of the row that it takes; turns of a time, where the ladder's launches took
// turns with those of another process.
[[nodiscard]] SourceParts row_sources(std::string_view operator_name, const LadderRow& row, bool takes_turns);

// Of times of one rung.
[[nodiscard]] SourceParts rung_sources(std::string_view operator_name, std::string_view rung);

// Of a check of a rung or a peer: no time.
[[nodiscard]] SourceParts verified_sources(std::string_view operator_name, std::string_view name);

}  // namespace rooftile::lab
