// What a kernel's machine code tells: the mix of its instructions, how wide it accesses memory, its loops.
//
// Instructions are counted where they stand in the code, not how often they run.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/lab/inspect/sass_opcodes.h"

namespace rooftile::lab {

struct AccessGroup {
  std::string what;    // "global load"
  std::string opcode;  // "LDG.E.128.CONSTANT"
  int bytes = 0;       // per lane; 0: a bulk copy, whose size is an operand
  int count = 0;
};

// An instruction that says how the kernel works.
struct Tell {
  std::string opcode;   // "UTMALDG"
  std::string meaning;  // "TMA load"
  int count = 0;
};

struct LoopSummary {
  std::string line;  // where the source decides to go round; empty: not known
  int depth = 0;
  int instructions = 0;  // in its body, without the loops inside of it
  int global_loads = 0;
  int shared_loads = 0;
  int arithmetic = 0;  // fma and tensor
  // How often one load of the source stands in the body (where it loads nothing: one operation); 1: the loop
  // is not unrolled; 0: it does neither.
  int copies = 0;
  std::string copied_line;
};

struct SassSummary {
  int instructions = 0;
  std::array<int, kInstructionClasses> counts{};
  std::vector<AccessGroup> accesses;  // by what, the widest first
  std::vector<Tell> tells;
  std::vector<LoopSummary> loops;

  [[nodiscard]] int count(InstructionClass kind) const { return counts[static_cast<std::size_t>(kind)]; }
  // Bytes per lane of the widest access of a kind ("global load"); 0 where there is none.
  [[nodiscard]] int widest(std::string_view what) const;
};

[[nodiscard]] SassSummary summarize(const SassFunction& function);

}  // namespace rooftile::lab
