#include "rooftile/lab/inspect/sass.h"

#include <algorithm>
#include <utility>

namespace rooftile::lab {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// Where an instruction comes from: lines of //## that stand in front of it, the innermost first.
class Origin {
 public:
  explicit Origin(std::string root) : root_(std::move(root)) {
    if (!root_.ends_with('/')) root_ += '/';
  }

  // `//## File "a.h", line 90 inlined at "b.cu", line 27`: the second half is the first of the next line.
  void add(std::string_view text) {
    if (std::exchange(complete_, false)) {
      line_.clear();
      inlined_.clear();
    }
    const std::size_t quote = text.find('"');
    const std::size_t end = text.find('"', quote + 1);
    const std::size_t number = text.find("line ", end);
    if (end == std::string_view::npos || number == std::string_view::npos) return;
    std::string_view file = text.substr(quote + 1, end - quote - 1);
    if (file.starts_with(root_)) file.remove_prefix(root_.size());
    const std::size_t digits = number + 5;
    const std::string here =
        std::string(file) + ":" +
        std::string(text.substr(digits, text.find_first_not_of("0123456789", digits) - digits));
    inlined_ += inlined_.empty() ? here : " " + here;
    const bool wrapper = file.starts_with('/') || file.starts_with("rooftile/device/");
    if (line_.empty() && !wrapper) line_ = here;
  }
  // An instruction came: the next line is another's.
  void complete() { complete_ = true; }

  [[nodiscard]] const std::string& line() const { return line_; }
  [[nodiscard]] const std::string& inlined() const { return inlined_; }

 private:
  std::string root_;
  std::string line_;
  std::string inlined_;
  bool complete_ = false;
};

// "/*0380*/  @P1 LDG.E.128 R8, [R2.64] ;"
SassInstruction parse_instruction(std::string_view text) {
  SassInstruction instruction;
  text.remove_prefix(text.find("*/") + 2);
  text = trimmed(text.substr(0, text.find(';')));
  if (text.starts_with('@')) {
    instruction.predicated = true;
    text = trimmed(text.substr(std::min(text.find_first_of(kBlanks), text.size())));
  }
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  instruction.opcode = text.substr(0, end);
  instruction.operands = trimmed(text.substr(end));
  return instruction;
}

}  // namespace

std::string_view SassInstruction::base() const {
  return std::string_view(opcode).substr(0, opcode.find('.'));
}

std::vector<SassFunction> parse_sass(std::string_view text, const std::string& root) {
  constexpr std::string_view kSection = ".text.";
  std::vector<SassFunction> functions;
  Origin origin(root);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(kSection) && line.ends_with(':')) {
      functions.push_back(
          {std::string(line.substr(kSection.size(), line.size() - kSection.size() - 1)), {}, {}});
      origin.complete();
    } else if (functions.empty()) {
      continue;
    } else if (line.starts_with("//##")) {
      origin.add(line);
    } else if (line.starts_with("/*")) {
      SassInstruction instruction = parse_instruction(line);
      instruction.line = origin.line();
      instruction.inlined = origin.inlined();
      functions.back().instructions.push_back(std::move(instruction));
      origin.complete();
    } else if (line.ends_with(':') && line.find(' ') == std::string_view::npos) {
      functions.back().labels.emplace(line.substr(0, line.size() - 1), functions.back().instructions.size());
    }
  }
  return functions;
}

}  // namespace rooftile::lab
