// The cases of an operator side by side: what the library chooses
// in each, every rung in each, and which rungs were skipped.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/lab/ladder/record_table.h"
#include "rooftile/lab/ladder/record_text.h"

namespace rooftile::lab {
namespace {

// A choice within one percent of the fastest rung is the fastest as far as measuring goes.
constexpr double kAsFast = 0.99;

template <class T>
std::size_t place_of(std::vector<T>& list, const T& value) {
  const auto at = std::find(list.begin(), list.end(), value);
  if (at != list.end()) return static_cast<std::size_t>(at - list.begin());
  list.push_back(value);
  return list.size() - 1;
}

const RecordRow* find_timed(const Record& record, const std::string& name) {
  const auto at = std::find_if(record.rows.begin(), record.rows.end(),
                               [&name](const RecordRow& row) { return row.timed && row.rung == name; });
  return at == record.rows.end() ? nullptr : &*at;
}

// Those that have a time somewhere, in the order of the ladder that lists most rows, skipped ones included.
template <class Wanted>
std::vector<std::string> timed_names(const OperatorRecords& of, const Wanted& wanted) {
  std::vector<std::string> all;
  std::vector<std::string> timed;
  const Record& longest =
      **std::max_element(of.shown.begin(), of.shown.end(),
                         [](const Record* x, const Record* y) { return x->rows.size() < y->rows.size(); });
  for (const RecordRow& row : longest.rows) place_of(all, row.rung);
  for (const Record* record : of.shown) {
    for (const RecordRow& row : record->rows) {
      if (!wanted(row)) continue;
      place_of(all, row.rung);
      if (row.timed) place_of(timed, row.rung);
    }
  }
  std::erase_if(all, [&timed](const std::string& name) {
    return std::find(timed.begin(), timed.end(), name) == timed.end();
  });
  return all;
}

// The notes of all cases, numbered in the order in which they first stand.
class Footnotes {
 public:
  // " <sup>1</sup>" for each note of the record, and for each warning that a rung's time bears.
  std::string marks(const Record& record) {
    std::string text;
    const auto add = [this, &text](const std::string& note) {
      text += fmt::format(" <sup>{}</sup>", place_of(notes_, note) + 1);
    };
    for (const std::string& note : record.notes) add(note);
    for (const RecordRow& row : record.rows) {
      if (row.timed && row.kind != "bound" && !row.reason.empty()) {
        add(fmt::format("{}: {}", row.rung, row.reason));
      }
    }
    return text;
  }
  [[nodiscard]] std::string lines() const {
    std::string text;
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      text += fmt::format("{}<sup>{}</sup> {}.", i == 0 ? "\n" : "<br>\n", i + 1, notes_[i]);
    }
    return text.empty() ? text : text + "\n";
  }

 private:
  std::vector<std::string> notes_;
};

bool any_stale(const Record& record, const RecordRow& chosen) {
  const RecordRow* bound = bound_row(record);
  const RecordRow* peer = best_peer(record);
  return chosen.stale || (bound != nullptr && bound->stale) || (peer != nullptr && peer->stale);
}

// "1.012"; "1.004 same"; "~3.43" where only the medians can be compared.
std::string ratio_cell(const Record& record, const RecordRow& chosen, const std::string& peer) {
  if (chosen.ratio > 0 && chosen.peer == peer) {
    const bool plain = chosen.verdict == "faster" || chosen.verdict == "slower";
    return fmt::format("{}{}{}", ratio_text(chosen.ratio), plain ? "" : " ", plain ? "" : chosen.verdict);
  }
  const RecordRow* row = find_timed(record, peer);
  return row == nullptr ? "" : fmt::format("~{:.3g}", row->median_us / chosen.median_us);
}

std::string faster_cell(const Record& record, const RecordRow& chosen) {
  const RecordRow* fastest = fastest_row(record);
  if (fastest->median_us >= kAsFast * chosen.median_us) return "";
  return fmt::format("{} {}", cell(fastest->rung), share_text(fastest->bound_fraction));
}

// What the table of all cases needs columns for.
struct Columns {
  std::vector<std::string> peers;
  std::string unit;        // of the rate; empty: it differs, and stands in each cell
  bool machine = false;    // there are several
  bool faster = false;     // some case has a rung that is faster than the library's
  bool estimates = false;  // some ratio is one of medians
};

// The rung that the line is about: a ladder of some rungs alone may lack the library's.
const RecordRow& row_of(const Record& record) {
  const RecordRow* chosen = chosen_row(record);
  return chosen != nullptr ? *chosen : *fastest_row(record);
}

Columns columns_of(const OperatorRecords& of) {
  Columns columns;
  columns.peers = timed_names(of, [](const RecordRow& row) { return row.kind == "peer"; });
  const Record& first = *of.shown.front();
  columns.unit = rate_unit(first);
  for (const Record* record : of.shown) {
    const RecordRow& row = row_of(*record);
    if (rate_unit(*record) != rate_unit(first)) columns.unit.clear();
    columns.machine = columns.machine || record->machine != first.machine;
    columns.faster = columns.faster || !faster_cell(*record, row).empty();
    for (const std::string& peer : columns.peers) {
      columns.estimates = columns.estimates || ratio_cell(*record, row, peer).starts_with("~");
    }
  }
  return columns;
}

std::string header(const Columns& columns) {
  std::string names =
      fmt::format("| # | case | {}mode | rung | time | {} | of bound |", columns.machine ? "machine, " : "",
                  columns.unit.empty() ? "rate" : columns.unit);
  std::string rule = "|--:|---|---|---|--:|--:|--:|";
  for (const std::string& peer : columns.peers) {
    names += fmt::format(" vs {} |", cell(peer));
    rule += "--:|";
  }
  if (columns.faster) {
    names += " faster here |";
    rule += "---|";
  }
  return names + "\n" + rule + "\n";
}

std::string case_line(const OperatorRecords& of, std::size_t i, const Columns& columns,
                      const std::string& marks) {
  const Record& record = *of.shown[i];
  const RecordRow& row = row_of(record);
  std::string line = fmt::format(
      "| {} | {}{} | {}{} | {}{}{} | {}{} | {}{} | {} |", i + 1,
      cell(case_text(record.the_case, of.default_case)), marks,
      columns.machine ? cell(record.machine) + ", " : "", record.mode, cell(row.rung),
      row.chosen ? "" : " (not the library's choice)", any_stale(record, row) ? kStaleMark : "",
      time_text(row.median_us), row.steady ? "" : " (insufficient)", rate_text(record, row),
      columns.unit.empty() ? fmt::format(" {}", rate_unit(record)) : "", share_text(row.bound_fraction));
  for (const std::string& peer : columns.peers) line += fmt::format(" {} |", ratio_cell(record, row, peer));
  if (columns.faster) line += fmt::format(" {} |", faster_cell(record, row));
  return line + "\n";
}

// How far times of torch's process can be compared with ours.
std::string process_legend(const OperatorRecords& of) {
  double least = 0;
  double most = 0;
  for (const Record* record : of.shown) {
    if (record->process_copy == 0) continue;
    least = least == 0 ? record->process_copy : std::min(least, record->process_copy);
    most = std::max(most, record->process_copy);
  }
  if (least == 0) return "";
  return fmt::format(
      " torch has a process of its own, in turns with ours: the same copy takes there {:.3f} to {:.3f} of what it takes "
      "here, and ratios against torch are worth no more.",
      least, most);
}

std::string matrix_legend(const OperatorRecords& of, const Columns& columns) {
  std::string text =
      "The rung is the one that the library chooses; of the modes that bars are read in (cold ones, sustained) the one in which it looks "
      "worse is shown.";
  const std::string usual = params_text(of.default_case);
  if (!usual.empty()) text += fmt::format(" Parameters are named where they are not {}.", usual);
  if (columns.faster)
    text += " Faster here: a rung of a time at least 1 % below, and its share of the bound.";
  if (columns.estimates) {
    text += " ~: of the medians, without a verdict: that is against the fastest peer.";
  }
  text += process_legend(of);
  std::vector<std::string> paths;
  std::vector<std::string> commits;
  for (const Record* record : of.shown) {
    place_of(paths, record->path);
    place_of(commits, commit_text(*record));
  }
  return text + fmt::format("\nCommands and samples: {}; commit {}.\n\n", fmt::join(paths, ", "),
                            fmt::join(commits, ", "));
}

// The columns of one table of all rungs: more would not stand side by side.
constexpr std::size_t kMostColumns = 20;

std::string rung_lines(const OperatorRecords& of, const std::vector<std::string>& names, std::size_t first) {
  const std::size_t last = std::min(first + kMostColumns, of.shown.size());
  std::string text = "| |";
  std::string rule = "|---|";
  for (std::size_t i = first; i < last; ++i) {
    text += fmt::format(" {} |", i + 1);
    rule += "--:|";
  }
  text += "\n" + rule + "\n";
  for (const std::string& name : names) {
    text += fmt::format("| {} |", cell(name));
    for (std::size_t i = first; i < last; ++i) {
      const RecordRow* row = find_timed(*of.shown[i], name);
      const std::string share = row == nullptr            ? ""
                                : row->bound_fraction > 0 ? share_text(row->bound_fraction)
                                                          : time_text(row->median_us);
      text += row != nullptr && row->chosen ? fmt::format(" **{}** |", share) : fmt::format(" {} |", share);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string case_matrix(const OperatorRecords& of) {
  if (of.shown.size() < 2) return "";
  const Columns columns = columns_of(of);
  Footnotes footnotes;
  std::string text = matrix_legend(of, columns) + header(columns);
  for (std::size_t i = 0; i < of.shown.size(); ++i) {
    text += case_line(of, i, columns, footnotes.marks(*of.shown[i]));
  }
  return text + footnotes.lines();
}

std::string rung_matrix(const OperatorRecords& of) {
  if (of.shown.size() < 2) return "";
  const std::vector<std::string> names =
      timed_names(of, [](const RecordRow& row) { return row.kind != "bound"; });
  std::string text =
      "\n<details><summary>Every rung in every case: share of the bound, by the number of the case"
      "</summary>\n\n";
  for (std::size_t first = 0; first < of.shown.size(); first += kMostColumns) {
    text += rung_lines(of, names, first) + "\n";
  }
  return text + "</details>\n";
}

std::string skipped_rungs(const OperatorRecords& of) {
  struct Reason {
    std::string text;
    std::vector<std::string> rungs{};
    std::vector<int> cases{};  // of each rung
  };
  std::vector<Reason> reasons;
  for (const Record* record : of.shown) {
    for (const RecordRow& row : record->rows) {
      if (row.timed) continue;
      const std::string why = fmt::format("{}{}", row.status == "skipped" ? "" : row.status + ": ",
                                          row.reason.empty() ? "no reason recorded" : row.reason);
      const auto at =
          std::find_if(reasons.begin(), reasons.end(), [&why](const Reason& r) { return r.text == why; });
      Reason& reason = at == reasons.end() ? reasons.emplace_back(Reason{why}) : *at;
      const std::size_t place = place_of(reason.rungs, row.rung);
      reason.cases.resize(reason.rungs.size());
      ++reason.cases[place];
    }
  }
  std::string text;
  for (const Reason& reason : reasons) {
    text += fmt::format("- {}: ", reason.text);
    for (std::size_t i = 0; i < reason.rungs.size(); ++i) {
      // The number stands behind the last of the rungs that share it.
      const bool last = i + 1 == reason.rungs.size();
      const bool shared = !last && reason.cases[i + 1] == reason.cases[i];
      text += reason.rungs[i];
      if (!shared) text += fmt::format(" in {} case{}", reason.cases[i], reason.cases[i] == 1 ? "" : "s");
      text += last ? "\n" : ", ";
    }
  }
  return text;
}

}  // namespace rooftile::lab
