#include "rooftile/lab/ladder/row_sources.h"

#include <initializer_list>

namespace rooftile::lab {
namespace {

SourceParts parts_of(std::string_view operator_name, std::string_view name,
                     std::initializer_list<std::string_view> parts) {
  SourceParts sources;
  for (const std::string_view part : parts) {
    const std::string_view digest = find_digest(present_sources(), operator_name, name, part);
    sources.push_back({std::string(part), std::string(digest)});
  }
  return sources;
}

bool is_peer(std::string_view operator_name, std::string_view name) {
  return find_digest(present_sources(), operator_name, name, "peer") != "unknown";
}

}  // namespace

SourceParts row_sources(std::string_view operator_name, const LadderRow& row, bool takes_turns) {
  SourceParts sources;
  if (row.kind == "bound") {
    sources = parts_of(operator_name, row.rung, {"flags", "timing"});
  } else if (row.kind == "peer") {
    sources = row.time ? parts_of(operator_name, row.rung, {"peer", "flags", "timing"})
                       : parts_of(operator_name, row.rung, {"peer"});
  } else if (row.time) {
    sources = rung_sources(operator_name, row.rung);
  } else if (row.status == RowStatus::skipped) {
    sources = parts_of(operator_name, row.rung, {"plan"});
  } else {
    sources = parts_of(operator_name, row.rung, {"kernel", "plan"});
  }
  const auto add = [&sources](const SourceParts& more) {
    sources.insert(sources.end(), more.begin(), more.end());
  };
  if (takes_turns && row.time) add(parts_of(operator_name, row.rung, {"turns"}));
  if (row.chosen) add(parts_of(operator_name, "-", {"choose"}));
  if (row.ratio_to_peer) add(parts_of(operator_name, row.peer, {"peer"}));
  return sources;
}

SourceParts rung_sources(std::string_view operator_name, std::string_view rung) {
  return parts_of(operator_name, rung, {"kernel", "plan", "flags", "timing"});
}

SourceParts verified_sources(std::string_view operator_name, std::string_view name) {
  return is_peer(operator_name, name) ? parts_of(operator_name, name, {"peer"})
                                      : parts_of(operator_name, name, {"kernel", "plan"});
}

}  // namespace rooftile::lab
