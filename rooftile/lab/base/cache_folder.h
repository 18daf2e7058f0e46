// Where this program keeps what it need not find out twice.
#pragma once

#include <filesystem>

namespace rooftile::lab {

// $XDG_CACHE_HOME/rooftile, else ~/.cache/rooftile; empty where neither variable names a folder. It may not
// exist yet.
[[nodiscard]] std::filesystem::path cache_folder();

}  // namespace rooftile::lab
