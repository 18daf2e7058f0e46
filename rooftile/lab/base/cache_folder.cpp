#include "rooftile/lab/base/cache_folder.h"

#include <cstdlib>

namespace rooftile::lab {

std::filesystem::path cache_folder() {
  // By the XDG rules a relative path there does not count.
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && xdg[0] == '/')
    return std::filesystem::path(xdg) / "rooftile";
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
    return std::filesystem::path(home) / ".cache" / "rooftile";
  return {};
}

}  // namespace rooftile::lab
