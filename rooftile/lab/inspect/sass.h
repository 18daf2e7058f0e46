// Machine code as nvdisasm prints it (`nvdisasm -c -gi`), as instructions.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rooftile::lab {

struct SassInstruction {
  std::string opcode;    // "LDG.E.128.CONSTANT"
  std::string operands;  // "R8, desc[UR8][R54.64]"
  bool predicated = false;
  // "rooftile/ops/reduce/reduce_rows.h:45": of the functions inlined into each other there, the innermost
  // that is the kernel's author's, and not a wrapper of rooftile/device/ or the toolkit's; empty: not known.
  std::string line;
  std::string inlined;  // all of these lines, the innermost first: tells two uses of one line apart

  [[nodiscard]] std::string_view base() const;  // "LDG"
};

struct SassFunction {
  std::string symbol;
  std::vector<SassInstruction> instructions;
  std::map<std::string, std::size_t> labels;  // to the index of the instruction behind it
};

// Every function of the text; `root` is the folder of the source tree.
[[nodiscard]] std::vector<SassFunction> parse_sass(std::string_view text, const std::string& root);

}  // namespace rooftile::lab
