// The loops of a kernel's machine code.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rooftile/lab/inspect/sass.h"

namespace rooftile::lab {

struct SassLoop {
  std::size_t head = 0;           // the instruction that a turn begins with
  std::vector<std::size_t> body;  // indices, ascending; those of the loops inside of it are left out
  int depth = 0;                  // loops around it
  std::string line;               // where the source decides to go round; empty: not known
};

// Natural loops: branches back to an instruction that no way from the entry passes
// by. Code that the compiler has moved out of line and that jumps back is no loop.
// Called functions (division, ...) are not looked into. In the order of their heads.
[[nodiscard]] std::vector<SassLoop> find_loops(const SassFunction& function);

}  // namespace rooftile::lab
