#include "rooftile/lab/ladder/record_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/ladder/record_text.h"

namespace rooftile::lab {
namespace {

constexpr std::string_view kEndMarker = "<!-- end generated -->";

std::string climb_line(const Record& record, const RecordRow& row, bool has_peer) {
  const std::string name = cell(row.rung);
  std::string line =
      fmt::format("| {}{} | {}{} | {} | {} |", row.chosen ? fmt::format("**{}**", name) : name,
                  row.stale ? kStaleMark : "", time_text(row.median_us), row.steady ? "" : " (insufficient)",
                  rate_text(record, row), share_text(row.bound_fraction));
  if (has_peer)
    line += row.ratio > 0 ? fmt::format(" {} {} |", ratio_text(row.ratio), row.verdict) : std::string("  |");
  return line + "\n";
}

// What the record says beside its numbers: which stream is the bound, a peer's version, a warning.
std::string climb_remarks(const Record& record) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const RecordRow& row : record.rows) {
    if (row.timed && !row.reason.empty()) add(fmt::format("{}: {}", row.rung, row.reason));
  }
  if (record.process_copy > 0)
    add(fmt::format("the same copy takes torch's process {:.3f} of what it takes ours", record.process_copy));
  for (const std::string& note : record.notes) add(note);
  return text.empty() ? text : "\n" + text + ".\n";
}

bool any_stale(const OperatorRecords& of) {
  return std::any_of(of.shown.begin(), of.shown.end(), [](const Record* record) {
    return std::any_of(record->rows.begin(), record->rows.end(),
                       [](const RecordRow& row) { return row.stale; });
  });
}

// The records that the picture of the whole climb is of.
std::string whole_climb_commands(const OperatorRecords& of) {
  std::string text = "The whole climb:";
  for (const Record* record : of.whole_climb)
    text += fmt::format("{} `{}`, commit {}", text.back() == ':' ? "" : ";", record->command,
                        commit_text(*record));
  return text + ".";
}

void add_part(std::string& text, std::string_view heading, const std::string& part) {
  if (!part.empty()) text += fmt::format("\n### {}\n\n{}", heading, part);
}

}  // namespace

std::string climb_table(const Record& climb) {
  const RecordRow* peer = best_peer(climb);
  std::string text = fmt::format("| rung | time | {} | of bound |{}\n|---|--:|--:|--:|{}\n", rate_unit(climb),
                                 peer == nullptr ? "" : fmt::format(" vs {} |", cell(peer->rung)),
                                 peer == nullptr ? "" : "--:|");
  for (const RecordRow& row : climb.rows) {
    if (row.timed) text += climb_line(climb, row, peer != nullptr);
  }
  return text + climb_remarks(climb);
}

std::string operator_tables(const OperatorRecords& of) {
  if (of.climb == nullptr) {
    return fmt::format(
        "No record yet: `rooftile ladder {}` on a GPU, kept in `results/`, makes this table.\n", of.name);
  }
  const Record& climb = *of.climb;
  const bool any_counts_flops = std::any_of(of.shown.begin(), of.shown.end(),
                                            [](const Record* record) { return counts_flops(*record); });
  std::string text = fmt::format(
      "### The climb\n\n![{}](climb.svg)\n\n{} on {}: {}, {} read, {} written; `{}`, commit {}.\n"
      "Bold: the rung that the library chooses. Of bound: share of the rate at which the same bytes stream{}\n"
      "in the same run. Above 1 against the peer: faster than it.{}\n\n",
      climb_sentence(of), cell(case_text(climb.the_case)), cell(climb.machine), climb.mode,
      format_bytes(climb.read_bytes), format_bytes(climb.write_bytes), climb.command, commit_text(climb),
      any_counts_flops ? ",\nor as many operations run on the same unit where those take longer," : "",
      any_stale(of) ? fmt::format(" {}: measured from other sources than those that stand here.", kStaleMark)
                    : "");
  text += climb_table(climb);
  if (!of.whole_climb.empty())
    text +=
        fmt::format("\n![{}](whole_climb.svg)\n\n{}\n", whole_climb_sentence(of), whole_climb_commands(of));
  add_part(text, fmt::format("All {} recorded cases", of.shown.size()), case_matrix(of));
  text += rung_matrix(of);
  add_part(text, "Skipped, and why", skipped_rungs(of));
  return text;
}

Result<std::string> replace_generated(std::string_view text, std::string_view name,
                                      std::string_view generated) {
  const std::string marker = fmt::format("<!-- generated: {} -->\n", name);
  const std::size_t start = text.find(marker);
  if (start == std::string_view::npos) {
    return invalid_argument(fmt::format(
        "there is no line '<!-- generated: {} -->': add it, and '{}' after it", name, kEndMarker));
  }
  const std::size_t first = start + marker.size();
  if (text.find(marker, first) != std::string_view::npos) {
    return invalid_argument(fmt::format("'<!-- generated: {} -->' stands twice: keep one", name));
  }
  const std::size_t last = text.find(kEndMarker, first);
  if (last == std::string_view::npos ||
      text.substr(first, last - first).find("<!-- generated:") != std::string_view::npos) {
    return invalid_argument(
        fmt::format("'<!-- generated: {} -->' has no '{}' after it: add it", name, kEndMarker));
  }
  return fmt::format("{}{}{}", text.substr(0, first), generated, text.substr(last));
}

}  // namespace rooftile::lab
