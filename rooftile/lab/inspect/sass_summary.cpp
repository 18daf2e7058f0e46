#include "rooftile/lab/inspect/sass_summary.h"

#include <algorithm>
#include <map>
#include <utility>

#include "rooftile/lab/inspect/sass_loops.h"

namespace rooftile::lab {
namespace {

// NOP is padding, and a branch to itself the trap behind the end.
bool is_padding(const SassFunction& function, std::size_t i) {
  const SassInstruction& instruction = function.instructions[i];
  if (instruction.base() == "NOP") return true;
  if (instruction.opcode != "BRA" || instruction.predicated || !instruction.operands.starts_with("`("))
    return false;
  const auto label = function.labels.find(instruction.operands.substr(2, instruction.operands.find(')') - 2));
  return label != function.labels.end() && label->second == i;
}

bool is_arithmetic(const SassInstruction& instruction) {
  const InstructionClass kind = class_of(instruction);
  return kind == InstructionClass::fma || kind == InstructionClass::tensor;
}

// The most often repeated instruction of those that `wanted`
// picks, told apart by all lines that it comes from.
template <class Wanted>
void count_copies(const SassFunction& function, const SassLoop& loop, Wanted&& wanted, LoopSummary& summary) {
  std::map<std::pair<std::string_view, std::string_view>, int> copies;
  for (const std::size_t i : loop.body) {
    const SassInstruction& instruction = function.instructions[i];
    if (!wanted(instruction)) continue;
    const int count = ++copies[{instruction.opcode, instruction.inlined}];
    if (count <= summary.copies) continue;
    summary.copies = count;
    summary.copied_line = instruction.line;
  }
}

LoopSummary summarize_loop(const SassFunction& function, const SassLoop& loop) {
  LoopSummary summary;
  summary.line = loop.line;
  summary.depth = loop.depth;
  for (const std::size_t i : loop.body) {
    const SassInstruction& instruction = function.instructions[i];
    if (is_padding(function, i)) continue;
    ++summary.instructions;
    summary.global_loads += is_global_load(instruction) ? 1 : 0;
    summary.shared_loads += is_shared_load(instruction) ? 1 : 0;
    summary.arithmetic += is_arithmetic(instruction) ? 1 : 0;
  }
  count_copies(function, loop, is_global_load, summary);
  if (summary.copies == 0) count_copies(function, loop, is_shared_load, summary);
  if (summary.copies == 0) count_copies(function, loop, is_arithmetic, summary);
  return summary;
}

template <class List, class Same, class Entry>
void count_in(List& list, Same&& same, Entry&& entry) {
  auto found = std::find_if(list.begin(), list.end(), same);
  if (found == list.end()) found = list.insert(list.end(), std::forward<Entry>(entry));
  ++found->count;
}

}  // namespace

int SassSummary::widest(std::string_view what) const {
  int bytes = 0;
  for (const AccessGroup& group : accesses) {
    if (group.what == what) bytes = std::max(bytes, group.bytes);
  }
  return bytes;
}

SassSummary summarize(const SassFunction& function) {
  SassSummary summary;
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    if (is_padding(function, i)) continue;
    const SassInstruction& instruction = function.instructions[i];
    ++summary.instructions;
    ++summary.counts[static_cast<std::size_t>(class_of(instruction))];
    if (const std::string_view what = access_of(instruction); !what.empty()) {
      count_in(
          summary.accesses, [&](const AccessGroup& group) { return group.opcode == instruction.opcode; },
          AccessGroup{std::string(what), instruction.opcode, bytes_per_lane(instruction), 0});
    }
    if (const std::string_view meaning = meaning_of(instruction); !meaning.empty()) {
      count_in(
          summary.tells, [&](const Tell& tell) { return tell.opcode == instruction.base(); },
          Tell{std::string(instruction.base()), std::string(meaning), 0});
    }
  }
  std::stable_sort(summary.accesses.begin(), summary.accesses.end(),
                   [](const AccessGroup& a, const AccessGroup& b) {
                     return a.what != b.what ? a.what < b.what : a.bytes > b.bytes;
                   });
  for (const SassLoop& loop : find_loops(function)) summary.loops.push_back(summarize_loop(function, loop));
  return summary;
}

}  // namespace rooftile::lab
