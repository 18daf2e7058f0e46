#include "rooftile/lab/inspect/sass_loops.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace rooftile::lab {
namespace {

using Index = std::size_t;
using Edges = std::vector<std::vector<Index>>;

constexpr Index kNone = static_cast<Index>(-1);

// Labels that the operands name: `(.L_x_20)
std::vector<Index> label_targets(const SassFunction& function, const SassInstruction& instruction) {
  std::vector<Index> targets;
  const std::string& text = instruction.operands;
  for (Index at = 0; (at = text.find(".L", at)) != std::string::npos;) {
    const Index end = std::min(text.find_first_of(") ,\"", at), text.size());
    const auto label = function.labels.find(text.substr(at, end - at));
    if (label != function.labels.end()) targets.push_back(label->second);
    at = end;
  }
  return targets;
}

// `BSYNC B0` goes on where the `BSSY B0, label` before it says.
std::vector<Index> reconvergence(const SassFunction& function, Index sync) {
  const std::string barrier = function.instructions[sync].operands + ",";
  for (Index i = sync; i-- > 0;) {
    const SassInstruction& before = function.instructions[i];
    if (before.base() == "BSSY" && before.operands.starts_with(barrier))
      return label_targets(function, before);
  }
  return {};
}

bool is_branch(std::string_view base) {
  return base == "BRA" || base == "BRX" || base == "JMP" || base == "JMX";
}
bool is_end(std::string_view base) { return base == "EXIT" || base == "RET" || base == "KILL"; }

// "BRA P1, `(.L_x_3)" and "BRA.DIV UR4, `(.L_x_3)" may go on behind them, too.
bool may_pass(const SassInstruction& branch) {
  return branch.predicated || branch.base() == "JMX" ||
         (branch.base() == "BRA" && !branch.operands.starts_with('`'));
}

std::vector<Index> successors(const SassFunction& function, Index i) {
  const SassInstruction& instruction = function.instructions[i];
  const std::string_view base = instruction.base();
  std::vector<Index> next;
  if (is_branch(base)) {
    next = label_targets(function, instruction);
    if (may_pass(instruction)) next.push_back(i + 1);
  } else if (is_end(base)) {
    if (instruction.predicated) next.push_back(i + 1);
  } else if (base == "BSYNC") {
    next = reconvergence(function, i);
    if (next.empty() || instruction.predicated) next.push_back(i + 1);
  } else {
    next.push_back(i + 1);
  }
  std::erase_if(next, [&](Index to) { return to >= function.instructions.size(); });
  return next;
}

// What can be reached from `start` without `wall`.
std::vector<bool> reachable(const Edges& edges, Index start, Index wall) {
  std::vector<bool> seen(edges.size());
  std::vector<Index> open;
  const auto visit = [&](Index i) {
    if (i == wall || seen[i]) return;
    seen[i] = true;
    open.push_back(i);
  };
  visit(start);
  while (!open.empty()) {
    const Index i = open.back();
    open.pop_back();
    for (const Index to : edges[i]) visit(to);
  }
  return seen;
}

Edges reversed(const Edges& edges) {
  Edges back(edges.size());
  for (Index from = 0; from < edges.size(); ++from) {
    for (const Index to : edges[from]) back[to].push_back(from);
  }
  return back;
}

struct Found {
  std::vector<bool> body;
  Index last_branch = 0;
};

bool contains(const Found& outer, Index head) { return outer.body[head]; }

// By head; loops that share a head are one.
std::map<Index, Found> natural_loops(const Edges& edges) {
  const Edges back = reversed(edges);
  const std::vector<bool> live = reachable(edges, 0, kNone);
  std::map<Index, Found> loops;
  for (Index branch = 0; branch < edges.size(); ++branch) {
    for (const Index head : edges[branch]) {
      // A branch to itself is the trap behind the kernel's end.
      if (!live[branch] || head >= branch) continue;
      if (head != 0 && reachable(edges, 0, head)[branch]) continue;  // there is a way in beside the head
      Found& loop = loops[head];
      loop.body.resize(edges.size());
      std::vector<bool> part = reachable(back, branch, head);
      part[head] = true;
      for (Index i = 0; i < part.size(); ++i) {
        if (part[i] && live[i]) loop.body[i] = true;
      }
      loop.last_branch = std::max(loop.last_branch, branch);
    }
  }
  return loops;
}

}  // namespace

std::vector<SassLoop> find_loops(const SassFunction& function) {
  Edges edges;
  for (Index i = 0; i < function.instructions.size(); ++i) edges.push_back(successors(function, i));
  if (edges.empty()) return {};
  const std::map<Index, Found> found = natural_loops(edges);
  std::vector<SassLoop> loops;
  for (const auto& [head, own] : found) {
    SassLoop loop;
    loop.head = head;
    loop.line = function.instructions[own.last_branch].line;
    std::vector<bool> body = own.body;
    for (const auto& [other_head, other] : found) {
      if (other_head == head) continue;
      if (contains(other, head)) ++loop.depth;
      if (!contains(own, other_head)) continue;
      for (Index i = 0; i < body.size(); ++i) body[i] = body[i] && !other.body[i];
    }
    for (Index i = 0; i < body.size(); ++i) {
      if (body[i]) loop.body.push_back(i);
    }
    loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace rooftile::lab
