// The simulated SM's report as a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/simulate/simulation.h"
#include "rooftile/sim/checked/source_lines.h"

namespace rooftile::lab {
namespace {

using simt::checked::AccessCounts;
using simt::checked::AccessKind;
using simt::checked::Finding;
using simt::checked::LineAccesses;
using simt::checked::LineSyncs;
using simt::checked::MemorySpace;
using simt::checked::Report;

// Where a share of a request is worth a sentence.
constexpr double kNoticeable = 1.05;
constexpr double kMostLanes = 30.0;
constexpr double kWarpLanes = 32.0;
constexpr int kSectorBytes = 32;
constexpr int kBankRow = 128;  // bytes: 32 banks of 4

std::string decimal(double value) { return fmt::format("{:.4g}", value); }

// Bulk copies and tiles are requests of their own, without lanes.
bool has_lanes(const AccessCounts& counts) { return counts.lanes > 0; }

std::string global_meaning(const LineAccesses& line) {
  const AccessCounts& counts = line.counts;
  const double sectors = counts.sectors_per_request();
  const double ideal = counts.ideal_sectors_per_request();
  if (sectors <= kNoticeable * ideal) return "";
  const bool store = line.kind == AccessKind::store;
  std::string text = fmt::format("{} touch {} sectors per request where {} would do",
                                 line.kind == AccessKind::load         ? "loads"
                                 : store                               ? "stores"
                                 : line.kind == AccessKind::async_copy ? "copies"
                                                                       : "atomics",
                                 decimal(sectors), decimal(ideal));
  if (!has_lanes(counts)) return text + ": rows that start or end within a sector";
  if (!counts.lane_stride) return text + ": the lanes of a warp go to places that are not in a row";
  const std::int64_t stride = std::abs(*counts.lane_stride);
  if (stride <= counts.lane_bytes) return text + ": the warp's first byte is no multiple of 32";
  text += fmt::format(": the lanes of a warp {} {} bytes apart", store ? "write" : "read", stride);
  if (stride >= kSectorBytes) text += ", each in a sector of its own (different rows)";
  return text;
}

std::string shared_meaning(const AccessCounts& counts) {
  const double degree = counts.conflict_degree();
  if (degree <= kNoticeable) return "";
  std::string text = fmt::format("{}-way bank conflict", decimal(degree));
  if (counts.worst_conflict > std::ceil(degree))
    text += fmt::format(", {}-way at worst", counts.worst_conflict);
  if (!counts.lane_stride) return text + ": lanes of a warp want different words of one bank";
  const std::int64_t stride = std::abs(*counts.lane_stride);
  text += fmt::format(": the lanes are {} bytes apart", stride);
  return stride % kBankRow == 0 ? text + ", all in one bank: pad the row by one element" : text;
}

std::string constant_meaning(const AccessCounts& counts) {
  const double words = counts.conflict_degree();
  if (words <= kNoticeable) return "";
  return fmt::format(
      "{} different words per request, served one after the other: "
      "constant memory is for one index per warp",
      decimal(words));
}

std::string lanes_meaning(const AccessCounts& counts) {
  if (!has_lanes(counts)) return "";
  if (counts.lanes == counts.requests) return "one lane of 32";
  const double lanes = counts.lanes_per_request();
  if (lanes > kMostLanes) return "";
  return fmt::format("{} of 32 lanes take part: the others wait at a branch", decimal(lanes));
}

// What a better pattern would save, in units of one access to the memory.
double wasted_accesses(const LineAccesses& line) {
  const AccessCounts& c = line.counts;
  return line.space != MemorySpace::global
             ? static_cast<double>(c.wavefronts) - static_cast<double>(c.ideal_wavefronts)
             : static_cast<double>(c.sectors) - static_cast<double>(c.ideal_sectors);
}

double idle_lanes(const LineAccesses& line) {
  if (!has_lanes(line.counts)) return 0;
  return kWarpLanes * static_cast<double>(line.counts.requests) - static_cast<double>(line.counts.lanes);
}

// Of each memory the line that wastes most accesses; of a kernel that runs with half of its lanes or less,
// the line that leaves most of them idle.
bool is_worst(const Report& report, const LineAccesses& line) {
  const auto nobody_above = [&](double own, auto&& measure, bool same_space) {
    return own > 0 &&
           std::none_of(report.accesses.begin(), report.accesses.end(), [&](const LineAccesses& other) {
             return (!same_space || other.space == line.space) && measure(other) > own;
           });
  };
  const bool divergent = report.total().lanes_per_request() <= kWarpLanes / 2;
  return !meaning_of(line).empty() && (nobody_above(wasted_accesses(line), wasted_accesses, true) ||
                                       (divergent && nobody_above(idle_lanes(line), idle_lanes, false)));
}

std::string line_title(const simt::checked::SourceLine& at) {
  const std::string text = simt::checked::source_text(at);
  return text.empty() ? to_string(at) : fmt::format("{}  {}", to_string(at), text);
}

void add_access(TextTable& table, const Report& report, const LineAccesses& line) {
  const AccessCounts& c = line.counts;
  const bool global = line.space == MemorySpace::global;
  const bool worst = is_worst(report, line);
  const std::string meaning = meaning_of(line);
  table.add_row({{worst ? "!" : "", Colour::red},
                 {fmt::format("{} {}", to_string(line.space), to_string(line.kind))},
                 {fmt::format("{}", c.requests)},
                 {has_lanes(c) ? decimal(c.lanes_per_request()) : "-"},
                 {global ? fmt::format("{} ({})", decimal(c.sectors_per_request()),
                                       decimal(c.ideal_sectors_per_request()))
                         : "-"},
                 {global ? "-" : fmt::format("{} ({})", decimal(c.conflict_degree()), c.worst_conflict)},
                 {meaning.empty() ? (!global        ? "no conflict"
                                     : has_lanes(c) ? "coalesced"
                                                    : "whole sectors")
                                  : meaning,
                  worst             ? Colour::red
                  : meaning.empty() ? Colour::green
                                    : Colour::none}});
}

std::string access_table(const Report& report, int width, bool colour) {
  TextTable table;
  table.add_column("");
  table.add_column("access");
  table.add_column("requests", Align::right);
  table.add_column("lanes", Align::right);
  table.add_column("sectors (ideal)", Align::right);
  table.add_column("conflict (worst)", Align::right);
  table.add_column("what it means");
  const simt::checked::SourceLine* before = nullptr;
  for (const LineAccesses& line : report.accesses) {
    if (before == nullptr || *before != line.at)
      table.add_line(paint(line_title(line.at), Colour::bold, colour));
    before = &line.at;
    add_access(table, report, line);
  }
  return table.render(width, colour);
}

std::string title(const Simulation& simulation) {
  std::string text = fmt::format("{}/{} on the simulated SM: {}", simulation.operator_name, simulation.rung,
                                 case_id(simulation.the_case));
  for (const auto& kernel : simulation.run.report.kernels) {
    text += fmt::format("\n{}: {} launch{}, {} block{} of {} threads", kernel.name, kernel.launches,
                        kernel.launches == 1 ? "" : "es", kernel.blocks, kernel.blocks == 1 ? "" : "s",
                        kernel.threads);
  }
  return text;
}

std::string per_request(const Report& report, AccessKind kind) {
  const AccessCounts counts = report.total(MemorySpace::global, kind);
  if (counts.requests == 0) return "";
  return fmt::format("{} {} sectors per request ({} would do); ",
                     kind == AccessKind::async_copy ? "async copies" : std::string(to_string(kind)) + "s",
                     decimal(counts.sectors_per_request()), decimal(counts.ideal_sectors_per_request()));
}

std::vector<std::string> summary(const Simulation& simulation) {
  const Report& report = simulation.run.report;
  const double moved = report.bytes_moved();
  std::vector<std::string> lines;
  std::string global = "global memory: " + per_request(report, AccessKind::load) +
                       per_request(report, AccessKind::store) + per_request(report, AccessKind::atomic) +
                       per_request(report, AccessKind::async_copy) +
                       fmt::format("{} moved, the algorithm needs {}", format_bytes(moved),
                                   format_bytes(simulation.bytes_needed));
  if (simulation.bytes_needed > 0)
    global += fmt::format(": {} times", decimal(moved / simulation.bytes_needed));
  lines.push_back(global);

  const AccessCounts loads = report.total(MemorySpace::shared, AccessKind::load);
  const AccessCounts stores = report.total(MemorySpace::shared, AccessKind::store);
  if (loads.requests + stores.requests > 0) {
    lines.push_back(
        fmt::format("shared memory: {} load requests, conflict degree {} (worst {}); "
                    "{} store requests, {} (worst {})",
                    loads.requests, decimal(loads.conflict_degree()), loads.worst_conflict, stores.requests,
                    decimal(stores.conflict_degree()), stores.worst_conflict));
  }
  const AccessCounts copies = report.total(MemorySpace::shared, AccessKind::async_copy);
  if (copies.requests > 0) {
    lines.push_back(fmt::format("shared memory: {} requests of asynchronous copies, {} passes of the banks",
                                copies.requests, copies.wavefronts));
  }
  const double block_lanes = report.basic_blocks == 0 ? 0.0
                                                      : static_cast<double>(report.basic_block_lanes) /
                                                            static_cast<double>(report.basic_blocks);
  lines.push_back(fmt::format("lanes: {} of 32 active per memory request, {} per basic block",
                              decimal(report.total().lanes_per_request()), decimal(block_lanes)));
  std::string syncs;
  for (const LineSyncs& sync : report.syncs) {
    syncs +=
        fmt::format("{}{} x {} ({})", syncs.empty() ? "" : ", ", sync.count, sync.name, to_string(sync.at));
  }
  if (!syncs.empty()) lines.push_back("synchronisation: " + syncs);
  return lines;
}

std::string finding_text(const Finding& finding) {
  const std::string other =
      finding.other.file.empty() ? "" : fmt::format(" (the other access: {})", line_title(finding.other));
  const std::string at = finding.at.file.empty() ? finding.kernel : line_title(finding.at);
  return fmt::format("{}: {}: {}{}; {} time{}", to_string(finding.kind), at, finding.what, other,
                     finding.count, finding.count == 1 ? "" : "s");
}

std::string findings_text(const Simulation& simulation, int width, bool colour) {
  std::string text;
  const auto add = [&](const std::string& line) {
    for (const std::string& part : wrap(line, width)) text += paint(part, Colour::red, colour) + "\n";
  };
  for (const Finding& finding : simulation.run.report.findings) add(finding_text(finding));
  if (!simulation.run.wrong.empty()) add("wrong result: " + simulation.run.wrong);
  if (!simulation.wrong_on_purpose.empty()) {
    add(text.empty() ? "the planted mistake was not found: " + simulation.wrong_on_purpose
                     : "all this is wrong on purpose: " + simulation.wrong_on_purpose);
  }
  for (const std::string& broken : simulation.broken) add("expectation broken: " + broken);
  if (text.empty()) {
    text = paint("checked: right, no race, nothing uninitialised, nothing out of bounds", Colour::green,
                 colour) +
           "\n";
  }
  for (const Finding& remark : simulation.run.report.remarks) {
    for (const std::string& part :
         wrap(finding_text(remark) + "; all store the same value: no mistake", width)) {
      text += part + "\n";
    }
  }
  return text;
}

}  // namespace

std::string meaning_of(const LineAccesses& line) {
  std::string text = line.space == MemorySpace::shared     ? shared_meaning(line.counts)
                     : line.space == MemorySpace::constant ? constant_meaning(line.counts)
                                                           : global_meaning(line);
  const auto add = [&text](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  };
  if (line.kind == AccessKind::atomic && line.counts.worst_multiplicity > 1) {
    add(fmt::format("{} lanes of a warp update one address, one after the other",
                    decimal(line.counts.mean_multiplicity())));
  }
  add(lanes_meaning(line.counts));
  return text;
}

std::string simulation_table(const Simulation& simulation, int width, bool colour) {
  std::string text = paint(title(simulation), Colour::bold, colour) + "\n";
  if (!simulation.run.report.accesses.empty())
    text += "\n" + access_table(simulation.run.report, width, colour);
  text += "\n";
  for (const std::string& line : summary(simulation)) {
    for (const std::string& part : wrap(line, width)) text += part + "\n";
  }
  text += findings_text(simulation, width, colour);
  std::string note =
      "! the line that wastes most: accesses of its memory, or lanes; access patterns, never predicted time";
  if (simulation.shrunk) note += "; a smaller case than the default, because every thread is executed";
  for (const std::string& part : wrap(note, width)) text += paint(part, Colour::dim, colour) + "\n";
  return text;
}

}  // namespace rooftile::lab
