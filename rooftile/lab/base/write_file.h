// Files that are complete or not there.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

#include "rooftile/core/status.h"

namespace rooftile::lab {

// While it lives, SIGINT, SIGTERM and SIGHUP wait: an interrupted program leaves no temporary file behind.
class SignalsHeld {
 public:
  SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld();

 private:
  sigset_t before_{};
};

// Writes a temporary file beside `path` and renames it. On failure the old file, if any, is untouched.
[[nodiscard]] Status write_file(const std::string& path, std::string_view text);

}  // namespace rooftile::lab
