// What this program was built from.
#pragma once

#include <string>
#include <string_view>

namespace rooftile::lab {

struct BuildInfo {
  std::string_view commit;  // "unknown" outside a repository
  bool dirty = false;       // the tree differed from the commit
  std::string_view compiler;
  std::string_view flags;
};
[[nodiscard]] const BuildInfo& build_info();

// The digest of an operator's sources at build time; "unknown" where the build did not compute it.
[[nodiscard]] std::string_view source_digest(std::string_view operator_name);

struct OperatorDigest {
  std::string name;
  std::string digest;
};

}  // namespace rooftile::lab
