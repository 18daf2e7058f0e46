// How records are written: a row a line, so that a change of one row is a change of one line.
#pragma once

#include <string>
#include <string_view>

namespace rooftile::lab {

// The same JSON in lines: what holds a list of objects has a line for each of its members; all else is one
// line. Precondition: `json` is JSON.
[[nodiscard]] std::string record_layout(std::string_view json);

}  // namespace rooftile::lab
