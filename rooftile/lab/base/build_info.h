// What this program was built from.
#pragma once

#include <string_view>

namespace rooftile::lab {

struct BuildInfo {
  std::string_view commit;  // "unknown" outside a repository
  bool dirty = false;       // the tree differed from the commit
  std::string_view compiler;
  std::string_view flags;
  std::string_view cuda_compiler;  // "nvcc 13.0.48 for 90a-real 80-virtual"; empty: none
};
[[nodiscard]] const BuildInfo& build_info();

}  // namespace rooftile::lab
