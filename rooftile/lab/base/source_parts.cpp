#include "rooftile/lab/base/source_parts.h"

namespace rooftile::lab {
namespace {

// The generated file holds a line {"operator", "name", "part", "digest"}, for each line of tools/rung_digest.
constexpr SourceEntry kPresent[] = {
#if __has_include("rooftile_build_info.inc")
#include "rooftile_build_info.inc"
#endif
    {"", "", "", ""},
};

}  // namespace

SourceTable present_sources() { return kPresent; }

std::string_view find_digest(SourceTable table, std::string_view operator_name, std::string_view name,
                             std::string_view part) {
  std::string_view of_operator = "unknown";
  for (const SourceEntry& entry : table) {
    if (entry.operator_name != operator_name || entry.part != part) continue;
    if (entry.name == name) return entry.digest;
    if (entry.name == "-") of_operator = entry.digest;
  }
  return of_operator;
}

std::string_view source_digest(std::string_view operator_name) {
  return find_digest(present_sources(), operator_name, "-", "all");
}

std::vector<std::string> stale_parts(const SourceParts& recorded, std::string_view operator_name,
                                     std::string_view name, std::string_view peer, SourceTable present) {
  if (recorded.empty()) return {"unrecorded"};
  std::vector<std::string> stale;
  for (const SourcePart& part : recorded) {
    const std::string_view of = part.part == "peer" && !peer.empty() ? peer : name;
    if (find_digest(present, operator_name, of, part.part) != part.digest) stale.push_back(part.part);
  }
  return stale;
}

}  // namespace rooftile::lab
