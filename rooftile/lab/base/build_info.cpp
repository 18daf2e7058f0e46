#include "rooftile/lab/base/build_info.h"

#include <utility>

#if !defined(ROOFTILE_COMMIT)
#define ROOFTILE_COMMIT "unknown"
#endif
#if !defined(ROOFTILE_DIRTY)
#define ROOFTILE_DIRTY 0
#endif
#if !defined(ROOFTILE_COMPILER_FLAGS)
#define ROOFTILE_COMPILER_FLAGS ""
#endif

namespace rooftile::lab {
namespace {

// The generated file holds one line {"operator", "digest"}, for each operator.
constexpr std::pair<std::string_view, std::string_view> kDigests[] = {
#if __has_include("rooftile_build_info.inc")
#include "rooftile_build_info.inc"
#endif
    {"", "unknown"},
};

}  // namespace

const BuildInfo& build_info() {
#if defined(__clang__)
  constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
  constexpr std::string_view kCompiler = "g++ " __VERSION__;
#endif
  static constexpr BuildInfo kInfo{ROOFTILE_COMMIT, ROOFTILE_DIRTY != 0, kCompiler, ROOFTILE_COMPILER_FLAGS};
  return kInfo;
}

std::string_view source_digest(std::string_view operator_name) {
  for (const auto& [name, digest] : kDigests) {
    if (name == operator_name) return digest;
  }
  return "unknown";
}

}  // namespace rooftile::lab
