#include "rooftile/core/registry.h"

#include <algorithm>
#include <utility>

namespace rooftile {

void Registry::add(const OperatorDescriptor& descriptor) {
  const auto place =
      std::lower_bound(operators_.begin(), operators_.end(), descriptor.name,
                       [](const OperatorDescriptor* op, const std::string& name) { return op->name < name; });
  // Registered twice is registered once: a program may call register_all_operators again.
  if (place != operators_.end() && (*place)->name == descriptor.name) return;
  operators_.insert(place, &descriptor);
}

void Registry::know(std::string_view operator_name) {
  if (std::find(known_.begin(), known_.end(), operator_name) == known_.end())
    known_.emplace_back(operator_name);
}

void Registry::add(OperatorCases cases) {
  if (this->cases(cases.operator_name) == nullptr) cases_.push_back(std::move(cases));
}

void Registry::add(PeerRow peer) {
  for (const PeerRow& known : peers_) {
    if (known.operator_name == peer.operator_name && known.id == peer.id) return;
  }
  peers_.push_back(std::move(peer));
}

const OperatorDescriptor* Registry::find(std::string_view name) const {
  for (const OperatorDescriptor* op : operators_) {
    if (op->name == name) return op;
  }
  return nullptr;
}

Result<const OperatorDescriptor*> Registry::get(std::string_view name) const {
  if (const OperatorDescriptor* op = find(name); op != nullptr) return op;
  if (std::find(known_.begin(), known_.end(), name) != known_.end()) {
    return unavailable(
        "operator \"" + std::string(name) +
        "\" is not built into this program: run it by ./rt, which builds what a command names, or "
        "configure with -DROOFTILE_OPERATORS=all");
  }
  std::vector<std::string> names;
  std::string list;
  for (const OperatorDescriptor* op : operators_) {
    names.push_back(op->name);
    list += (list.empty() ? "" : ", ") + op->name;
  }
  const std::string unknown = "unknown operator \"" + std::string(name) + "\": ";
  if (names.empty()) return invalid_argument(unknown + "this program has none built in");
  const std::string nearest = nearest_name(name, names);
  return invalid_argument(unknown + (nearest.empty() ? "" : "did you mean " + nearest + "? ") +
                          "use one of " + list);
}

const OperatorCases* Registry::cases(std::string_view operator_name) const {
  for (const OperatorCases& cases : cases_) {
    if (cases.operator_name == operator_name) return &cases;
  }
  return nullptr;
}

std::vector<const PeerRow*> Registry::peers(std::string_view operator_name) const {
  std::vector<const PeerRow*> found;
  for (const PeerRow& peer : peers_) {
    if (peer.operator_name == operator_name) found.push_back(&peer);
  }
  return found;
}

}  // namespace rooftile
