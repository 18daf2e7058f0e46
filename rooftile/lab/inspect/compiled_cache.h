// One compiled source between runs of the program: its machine code, what the compiler said, and what of.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "rooftile/core/status.h"

namespace rooftile::lab {

class CompiledCache {
 public:
  // `name` is kept once: what was compiled of other files or by another recipe is replaced.
  CompiledCache(const std::filesystem::path& folder, const std::string& name);

  [[nodiscard]] const std::filesystem::path& cubin() const { return cubin_; }

  // What the compiler said, where it was called by the same recipe
  // (version and flags) and every file that it read then is the same now.
  [[nodiscard]] std::optional<std::string> find(const std::string& recipe) const;

  // Moves the machine code in. `rule_file` is the compiler's
  // own list of the files that it read, as a rule of make.
  [[nodiscard]] Status keep(const std::string& recipe, const std::string& cubin_file,
                            const std::string& rule_file, const std::string& report) const;

 private:
  std::filesystem::path cubin_;
  std::filesystem::path manifest_;
};

}  // namespace rooftile::lab
