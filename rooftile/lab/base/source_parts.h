// What decides a recorded time: a digest each of the kernel, its plan, the peer and so on (docs/records.md).
// tools/rung_digest computes them, and the build keeps those of the present sources.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rooftile::lab {

// A line of tools/rung_digest. `name` is a rung or a peer; "-" where the part is of the whole operator.
struct SourceEntry {
  std::string_view operator_name;
  std::string_view name;
  std::string_view part;  // kernel, plan, flags, peer; choose, timing, all
  std::string_view digest;
};
using SourceTable = std::span<const SourceEntry>;

// Of the sources that this program was built from.
[[nodiscard]] SourceTable present_sources();

// The digest of a part of this name, or else of the whole operator; "unknown" where there is neither.
[[nodiscard]] std::string_view find_digest(SourceTable table, std::string_view operator_name,
                                           std::string_view name, std::string_view part);

// Of all that decides times of an operator.
[[nodiscard]] std::string_view source_digest(std::string_view operator_name);

struct SourcePart {
  std::string part;
  std::string digest;
};
using SourceParts = std::vector<SourcePart>;

// Those of a recorded row whose sources are not the present ones: "kernel", "peer"; "unrecorded" where the
// row does not say what it was measured from. Empty: the row is of the present sources. `peer`: against whom
// the row has a ratio.
[[nodiscard]] std::vector<std::string> stale_parts(const SourceParts& recorded,
                                                   std::string_view operator_name, std::string_view name,
                                                   std::string_view peer,
                                                   SourceTable present = present_sources());

// What stands behind a figure of such a row, in tables and drawings.
inline constexpr std::string_view kStaleMark = "†";

}  // namespace rooftile::lab
