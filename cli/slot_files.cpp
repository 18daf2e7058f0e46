#include "cli/slot_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rooftile::cli {
namespace {

// The files of one option: NAME=FILE for the slot of that name, any other for the slots of `direction` in the operator's order.
class FileOption {
 public:
  FileOption(const OperatorDescriptor& op, const char* option, SlotDirection direction)
      : op_(op), option_(option), direction_(direction) {}

  Result<std::vector<std::string>> assign(const std::vector<std::string>& given) const {
    std::vector<std::string> files(op_.slots.size());
    std::vector<std::string> in_order;
    for (const std::string& word : given) {
      const std::string name = word.substr(0, word.find('='));
      if (word.find('=') == std::string::npos || name.find('/') != std::string::npos) {
        in_order.push_back(word);
        continue;
      }
      const std::size_t slot = slot_named(name);
      if (slot == op_.slots.size()) return unknown(word, name);
      if (name.size() + 1 == word.size()) {
        return invalid_argument(
            fmt::format("{} {} names no file: leave it out, or write {}FILE", option_, word, word));
      }
      if (!takes(op_.slots[slot]) || !files[slot].empty()) {
        return invalid_argument(fmt::format("{} {}: {}", option_, word,
                                            takes(op_.slots[slot])
                                                ? op_.slots[slot].name + " has a file already"
                                                : fmt::format("name one of {}", fmt::join(names(), ", "))));
      }
      files[slot] = word.substr(word.find('=') + 1);
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < files.size() && next < in_order.size(); ++i) {
      if (op_.slots[i].direction == direction_ && files[i].empty()) files[i] = in_order[next++];
    }
    ROOFTILE_TRY(check(files, in_order.size() - next));
    return files;
  }

 private:
  [[nodiscard]] Status unknown(const std::string& word, const std::string& name) const {
    const std::string near = nearest_name(name + "=", names());
    return invalid_argument(fmt::format("{} {}: {} has no {}: {}; a file of that name is ./{}", option_, word,
                                        op_.name, name,
                                        near.empty() ? fmt::format("name one of {}", fmt::join(names(), ", "))
                                                     : fmt::format("did you mean {}?", near),
                                        word));
  }
  [[nodiscard]] bool takes(const TensorSlot& slot) const {
    return slot.direction == direction_ || slot.direction == SlotDirection::inout;
  }
  [[nodiscard]] std::size_t slot_named(const std::string& name) const {
    const auto slot = std::find_if(op_.slots.begin(), op_.slots.end(),
                                   [&](const TensorSlot& one) { return one.name == name; });
    return static_cast<std::size_t>(slot - op_.slots.begin());
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const TensorSlot& slot : op_.slots) {
      if (takes(slot)) names.push_back(slot.name + "=");
    }
    return names;
  }
  // Whether every slot has its file, and every file a slot.
  [[nodiscard]] Status check(const std::vector<std::string>& files, std::size_t too_many) const {
    std::vector<std::string> wanted;
    std::string missing;
    std::size_t needed = 0;
    std::size_t there = too_many;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const TensorSlot& slot = op_.slots[i];
      if (slot.direction != direction_) continue;
      wanted.push_back(slot.name);
      if (!slot.optional) ++needed;
      if (!files[i].empty())
        ++there;
      else if (!slot.optional && missing.empty())
        missing = slot.name;
    }
    if (missing.empty() && too_many == 0) return {};
    if (too_many == 0 && there >= needed) {
      return invalid_argument(
          fmt::format("{} has no {}: add {} {}=FILE", op_.name, missing, option_, missing));
    }
    const std::string count =
        needed == wanted.size() ? std::to_string(needed) : fmt::format("{} to {}", needed, wanted.size());
    return invalid_argument(fmt::format("{} takes {} {} file{} ({}), not {}", op_.name, count, option_,
                                        count == "1" ? "" : "s", fmt::join(wanted, ", "), there));
  }

  const OperatorDescriptor& op_;
  const char* option_;
  SlotDirection direction_;
};

}  // namespace

Result<SlotFiles> files_of(const OperatorDescriptor& op, const std::vector<std::string>& in,
                           const std::vector<std::string>& out) {
  SlotFiles files;
  ROOFTILE_TRY_ASSIGN(files.in, FileOption(op, "--in", SlotDirection::in).assign(in));
  ROOFTILE_TRY_ASSIGN(files.out, FileOption(op, "--out", SlotDirection::out).assign(out));
  for (std::size_t i = 0; i < op.slots.size(); ++i) {
    const TensorSlot& slot = op.slots[i];
    if (slot.direction != SlotDirection::inout || !files.in[i].empty()) continue;
    if (!slot.optional || !files.out[i].empty()) {
      return invalid_argument(
          fmt::format("{} is read before it is written: add --in {}=FILE", slot.name, slot.name));
    }
  }
  return files;
}

}  // namespace rooftile::cli
