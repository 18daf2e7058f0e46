// From code addresses to source lines and names, by this program's own debug information.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/sim/checked/report.h"

namespace rooftile::simt::checked {

// A file of this project by its path from the root of the tree; any other as it stands.
[[nodiscard]] std::string project_path(std::string_view file);
// The line's text without the blanks around it; empty where the source is not at hand.
[[nodiscard]] std::string source_text(const SourceLine& line);

// The linker's name of the function that starts at `code`; empty where the program has no symbols.
[[nodiscard]] std::string symbol_of(const void* code);

class SourceLines {
 public:
  SourceLines();

  // Where the call that returns to `return_address` stands: of the functions inlined into each other there,
  // the innermost that is the kernel's author's, and not a wrapper of rooftile/sim/ or rooftile/device/.
  [[nodiscard]] const SourceLine& line_of(const void* return_address) { return find(return_address).shown; }
  // The innermost of all.
  [[nodiscard]] const SourceLine& innermost_of(const void* return_address) {
    return find(return_address).innermost;
  }

  // "copy_kernel" for the code of a kernel, without namespaces and
  // template arguments; "a kernel" where the program has no symbols.
  [[nodiscard]] std::string kernel_name(const void* code) const;

 private:
  struct Lines {
    SourceLine shown;
    SourceLine innermost;
  };
  const Lines& find(const void* return_address);

  void* state_;  // libbacktrace's; lives as long as the program
  std::map<const void*, Lines> lines_;
};

}  // namespace rooftile::simt::checked
