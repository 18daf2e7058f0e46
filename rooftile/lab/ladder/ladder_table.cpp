#include "rooftile/lab/ladder/ladder_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/check/verify.h"
#include "rooftile/lab/ladder/ladder_bound.h"

namespace rooftile::lab {
namespace {

constexpr std::array<const char*, 8> kAccessColumns = {"ld",  "st",    "conflict", "lanes",
                                                       "blk", "moved", "bar",      "shfl"};

std::string format_time(double us) {
  if (us < 1e3) return fmt::format("{:.2f} us", us);
  return us < 1e6 ? fmt::format("{:.2f} ms", us * 1e-3) : fmt::format("{:.2f} s", us * 1e-6);
}

std::string format_rate(double gbps) { return fmt::format("{:.{}f}", gbps, gbps < 100.0 ? 2 : 0); }

std::string title(const LadderReport& report, const LadderResult& result) {
  const Case& c = result.the_case;
  std::string text =
      fmt::format("{} on {}: {}, {} read, {} written", report.operator_name, to_string(result.device),
                  case_id(c), format_bytes(result.read_bytes), format_bytes(result.write_bytes));
  if (result.flops > 0) text += fmt::format(", {:.3g} operations", result.flops);
  return text;
}

Cell check_cell(const LadderRow& row) {
  switch (row.status) {
    case RowStatus::ok:
      return {row.kind == "bound" ? "-" : "ok", Colour::green};
    case RowStatus::failed:
      return {"FAILED", Colour::red};
    case RowStatus::skipped:
      return {"skipped", Colour::yellow};
    case RowStatus::not_built:
      return {"not built", Colour::yellow};
  }
  return {};
}

Cell ratio_cell(const LadderRow& row) {
  if (!row.ratio_to_peer || !row.verdict) return {"-"};
  Colour colour = Colour::none;
  if (*row.verdict == Verdict::faster) colour = Colour::green;
  if (*row.verdict == Verdict::slower) colour = Colour::red;
  return {fmt::format("{:.3f} {}", row.ratio_to_peer->median, to_string(*row.verdict)), colour};
}

std::string time_text(const LadderRow& row) {
  if (row.time) return format_time(row.time->summary.median);
  return "-";
}

// A time that may not be quoted says so beside itself.
Cell iqr_cell(const LadderRow& row) {
  if (!row.time) return {"-"};
  const double median = row.time->summary.median;
  const std::string share =
      median > 0 ? fmt::format("{:.1f} %", 100.0 * row.time->summary.iqr / median) : "-";
  if (row.time->steady) return {share};
  return {share + " insufficient", Colour::yellow};
}

// The idea, or what kept the row from its numbers.
std::string last_column(const LadderRow& row) {
  return row.reason.empty() || row.simulated ? row.idea : row.reason;
}

// "16 (4)": what it takes, and what would do; red where it is much more.
Cell against_ideal(double value, double ideal) {
  if (value == 0) return {"-"};
  constexpr double kMuch = 1.5;
  return {fmt::format("{:.3g} ({:.3g})", value, ideal), value > kMuch * ideal ? Colour::red : Colour::none};
}

// Passes of the shared memory's banks; of a rung that uses none, words of constant memory.
Cell conflict_cell(const AccessSummary& a) {
  if (a.conflict_degree > 0) {
    return {fmt::format("{:.3g} ({})", a.conflict_degree, a.worst_conflict),
            a.worst_conflict > 1 ? Colour::red : Colour::none};
  }
  if (a.constant_words == 0) return {"-"};
  return {fmt::format("{:.3g}", a.constant_words), a.constant_words > 1 ? Colour::red : Colour::none};
}

Cell lanes_cell(double lanes, double few) {
  return {lanes > 0 ? fmt::format("{:.3g}", lanes) : "-",
          lanes > 0 && lanes < few ? Colour::red : Colour::none};
}

std::vector<Cell> access_cells(const LadderRow& row, double needed_bytes) {
  if (!row.accesses) return std::vector<Cell>(kAccessColumns.size(), Cell{"-"});
  const AccessSummary& a = *row.accesses;
  constexpr double kFewLanes = 16;
  constexpr double kFewBlockLanes = 24;  // some blocks of a good kernel concern one warp's first lane
  return {against_ideal(a.load_sectors, a.ideal_load_sectors),
          against_ideal(a.store_sectors, a.ideal_store_sectors),
          conflict_cell(a),
          lanes_cell(a.lanes, kFewLanes),
          lanes_cell(a.block_lanes, kFewBlockLanes),
          {needed_bytes > 0 ? fmt::format("{:.3g}", a.bytes_moved / needed_bytes) : "-"},
          {fmt::format("{}", a.barriers)},
          {fmt::format("{}", a.shuffles)}};
}

// Whether operations bound the case, so that their rate is what a reader compares.
bool counts_flops(const LadderResult& result) {
  return std::any_of(result.rows.begin(), result.rows.end(),
                     [](const LadderRow& row) { return row.rung == kComputeBound; });
}

void add_row(TextTable& table, const LadderResult& result, const LadderRow& row, bool timed, bool has_peer) {
  std::vector<Cell> cells = {
      {row.chosen ? "*" : ""}, {row.rung, row.chosen ? Colour::bold : Colour::none}, check_cell(row)};
  if (result.device.kind == DeviceKind::sim) {
    for (Cell& cell : access_cells(row, result.read_bytes + result.write_bytes))
      cells.push_back(std::move(cell));
  } else {
    cells.push_back({time_text(row)});
  }
  if (timed) {
    cells.push_back(iqr_cell(row));
    cells.push_back({row.time ? format_rate(counts_flops(result) ? row.tflops : row.gbps) : "-"});
    cells.push_back({row.bound_fraction ? fmt::format("{:.1f} %", 100.0 * *row.bound_fraction) : "-"});
  }
  if (has_peer) cells.push_back(ratio_cell(row));
  cells.push_back({last_column(row), row.status == RowStatus::failed ? Colour::red : Colour::none});
  table.add_row(std::move(cells));
}

std::string result_table(const LadderReport& report, const LadderResult& result, int width, bool colour) {
  bool timed = false;
  bool has_peer = false;
  bool has_chosen = false;
  std::string peer;
  for (const LadderRow& row : result.rows) {
    timed = timed || row.time.has_value();
    has_peer = has_peer || row.ratio_to_peer.has_value();
    has_chosen = has_chosen || row.chosen;
    if (!row.peer.empty()) peer = row.peer;
  }
  TextTable table;
  table.add_column("");
  table.add_column("rung");
  table.add_column("check");
  const bool simulated = result.device.kind == DeviceKind::sim;
  if (simulated) {
    for (const char* header : kAccessColumns) table.add_column(header, Align::right);
  } else {
    table.add_column("time", Align::right);
  }
  if (timed) {
    table.add_column("IQR", Align::right);
    table.add_column(counts_flops(result) ? "TFLOP/s" : "GB/s", Align::right);
    table.add_column("of bound", Align::right);
  }
  if (has_peer) table.add_column("vs " + peer, Align::right);
  table.add_column("idea");
  for (const LadderRow& row : result.rows) add_row(table, result, row, timed, has_peer);

  std::string text = paint(title(report, result), Colour::bold, colour) + "\n" + table.render(width, colour);
  std::vector<std::string> notes;
  if (has_chosen) notes.push_back("* the rung that the library chooses for this call");
  if (simulated) {
    notes.push_back(
        "ld, st: 32-byte sectors of global memory per request of a warp (what would do); conflict: passes of "
        "the shared memory's banks per request (the worst), or words of constant memory, 1 is none; lanes: "
        "active per request, of 32; blk: active per basic block; moved: bytes of global memory over the "
        "algorithm's minimum; bar, shfl: block barriers and warp shuffles in all. "
        "`rooftile sim OP/RUNG` shows the lines that they come from");
  }
  if (timed) {
    for (const LadderRow& row : result.rows) {
      if (!row.time) continue;
      notes.push_back(fmt::format(
          "{}, median of {} interleaved samples; of bound: share of the rate {} measured in this run",
          to_string(row.time->mode), row.time->summary.n,
          counts_flops(result) ? "of as many operations on the same unit"
                               : "at which the same bytes stream,"));
      break;
    }
  }
  if (result.process_copy) {
    notes.push_back(fmt::format(
        "cross-process check: the same copy takes torch's process {:.3f} ({:.3f} to {:.3f}) of what it takes ours: ratios "
        "against torch are worth no more than that",
        result.process_copy->median, result.process_copy->low, result.process_copy->high));
  }
  notes.insert(notes.end(), result.notes.begin(), result.notes.end());
  if (result.judging_s > kSlowJudging)
    notes.push_back(fmt::format("judging took {:.1f} s of the host", result.judging_s));
  for (const std::string& note : notes) {
    for (const std::string& line : wrap(note, width)) text += paint(line, Colour::dim, colour) + "\n";
  }
  return text;
}

}  // namespace

std::string ladder_table(const LadderReport& report, int width, bool colour) {
  std::string text;
  for (const LadderResult& result : report.results) {
    if (!text.empty()) text += '\n';
    text += result_table(report, result, width, colour);
  }
  return text;
}

}  // namespace rooftile::lab
