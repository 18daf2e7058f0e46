#include "rooftile/lab/base/build_info.h"

#if !defined(ROOFTILE_COMMIT)
#define ROOFTILE_COMMIT "unknown"
#endif
#if !defined(ROOFTILE_DIRTY)
#define ROOFTILE_DIRTY 0
#endif
#if !defined(ROOFTILE_COMPILER_FLAGS)
#define ROOFTILE_COMPILER_FLAGS ""
#endif
#if !defined(ROOFTILE_CUDA_COMPILER)
#define ROOFTILE_CUDA_COMPILER ""
#endif

namespace rooftile::lab {

const BuildInfo& build_info() {
#if defined(__clang__)
  constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
  constexpr std::string_view kCompiler = "g++ " __VERSION__;
#endif
  static constexpr BuildInfo kInfo{ROOFTILE_COMMIT, ROOFTILE_DIRTY != 0, kCompiler, ROOFTILE_COMPILER_FLAGS,
                                   ROOFTILE_CUDA_COMPILER};
  return kInfo;
}

}  // namespace rooftile::lab
