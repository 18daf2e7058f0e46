// Sizes as people write them.
#pragma once

#include <string>

namespace rooftile::lab {

// "1.5 GiB"; for messages.
[[nodiscard]] std::string format_bytes(double bytes);

}  // namespace rooftile::lab
