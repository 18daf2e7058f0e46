// A ladder for people.
#pragma once

#include <string>

#include "rooftile/lab/ladder/ladder.h"

namespace rooftile::lab {

[[nodiscard]] std::string ladder_table(const LadderReport& report, int width, bool colour);

}  // namespace rooftile::lab
