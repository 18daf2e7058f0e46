// How this program starts another one.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "rooftile/core/status.h"

namespace rooftile::lab {

// File descriptors; stdin below 0: there is nothing to read.
struct ChildStreams {
  int in = -1;
  int out = -1;
  int err = -1;
};

// Runs argv[0], a path, in a process group of its own, so that an interrupt from the terminal is this program's alone.
// `signals`: those that it blocks; null: as this program does.
[[nodiscard]] Result<pid_t> spawn(const std::vector<std::string>& argv, ChildStreams streams,
                                  const sigset_t* signals = nullptr);

}  // namespace rooftile::lab
