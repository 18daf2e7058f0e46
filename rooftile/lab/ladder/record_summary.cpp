// All operators, a line each.
#include <fmt/format.h>

#include <algorithm>

#include "rooftile/lab/ladder/record_table.h"
#include "rooftile/lab/ladder/record_text.h"

namespace rooftile::lab {
namespace {

// The least of what the chosen rungs reach, of the cases in the modes that bars are read in.
struct Least {
  int cases = 0;
  double bound_fraction = 0;
  double ratio = 0;
};

Least least_of(const OperatorRecords& of) {
  const auto lower = [](double& least, double value) {
    if (value > 0 && (least == 0 || value < least)) least = value;
  };
  Least least;
  for (const Record* record : of.shown) {
    const RecordRow* chosen = chosen_row(*record);
    if (chosen == nullptr || !is_headline(*record)) continue;
    ++least.cases;
    lower(least.bound_fraction, chosen->bound_fraction);
    lower(least.ratio, chosen->ratio);
  }
  return least;
}

bool any_stale(const Record& record) {
  return std::any_of(record.rows.begin(), record.rows.end(), [](const RecordRow& row) { return row.stale; });
}

std::string freshness(const Record& record) {
  return fmt::format("{}{}", commit_text(record), any_stale(record) ? kStaleMark : "");
}

std::string operator_line(const OperatorRecords& of, const RecordRow& chosen) {
  const std::string link = fmt::format("[{0}](rooftile/ops/{0}/README.md)", of.name);
  const Record& climb = *of.climb;
  const Least least = least_of(of);
  return fmt::format(
      "| {} | {} | {} | {}{} | {} | {} | {} cases: {}{} | {}, {}, {} |\n", link,
      cell(case_text(climb.the_case)), cell(chosen.rung), time_text(chosen.median_us),
      chosen.steady ? "" : " (insufficient)", share_text(chosen.bound_fraction),
      chosen.ratio > 0 ? fmt::format("{} ({})", ratio_text(chosen.ratio), cell(chosen.peer)) : "",
      least.cases, share_text(least.bound_fraction),
      least.ratio > 0 ? fmt::format(", {} of a peer", ratio_text(least.ratio)) : "", cell(climb.machine),
      climb.mode, freshness(climb));
}

}  // namespace

std::string summary_table(std::span<const OperatorRecords> operators) {
  std::string lines;
  bool has_stale = false;
  for (const OperatorRecords& of : operators) {
    const RecordRow* chosen = of.climb == nullptr ? nullptr : chosen_row(*of.climb);
    if (chosen == nullptr) continue;  // a new operator is in nobody's way
    lines += operator_line(of, *chosen);
    has_stale = has_stale || any_stale(*of.climb);
  }
  if (lines.empty()) return "No record yet.\n";
  std::string text =
      "| operator | case | the library's rung | time | of bound | vs best peer | least of all cases "
      "| measured on |\n|---|---|---|--:|--:|--:|---|---|\n" +
      lines;
  text +=
      "\nOf bound: share of the rate at which the same bytes stream, or as many operations run where those take "
      "longer, in the same run. Above 1 against the peer: faster.\nThe least: of all recorded cases with cold caches, or sustained. "
      "[What figures are worth](docs/measuring.md).";
  if (has_stale)
    text += fmt::format(" {}: recorded from other sources than those that stand here.", kStaleMark);
  return text + "\n";
}

}  // namespace rooftile::lab
