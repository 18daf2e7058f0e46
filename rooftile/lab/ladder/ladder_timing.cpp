#include "rooftile/lab/ladder/ladder_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "rooftile/lab/ladder/ladder_bound.h"
#include "rooftile/lab/ladder/process_rows.h"
#include "rooftile/lab/time/gpu_clock.h"

namespace rooftile::lab {
namespace {

constexpr double kSteadyClock = 0.95;
constexpr double kFullClock = 0.9;

// The series of the fastest peer; none where no peer has times.
std::optional<std::size_t> best_peer(const std::vector<LadderEntry>& entries,
                                     std::span<const TimeSeries> series) {
  std::optional<std::size_t> best;
  double best_us = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].row.kind != "peer" || !entries[i].timed) continue;
    const TimeSeries& own = series[entries[i].series];
    if (!own.status.ok() || own.samples_us.empty()) continue;
    const double median_us = quantile(own.samples_us, 0.5);
    if (!best || median_us < best_us) {
      best = i;
      best_us = median_us;
    }
  }
  return best;
}

// Whether every rung's verdict against the best peer is one.
bool all_decided(const std::vector<LadderEntry>& entries, std::span<const TimeSeries> series, Margins margins,
                 std::uint64_t seed) {
  const std::optional<std::size_t> peer = best_peer(entries, series);
  if (!peer) return true;
  return std::all_of(entries.begin(), entries.end(), [&](const LadderEntry& entry) {
    if (!entry.timed || entry.row.kind == "peer" || !series[entry.series].status.ok()) return true;
    return compare_series(series[entry.series], series[entries[*peer].series], margins, seed).verdict !=
           Verdict::insufficient;
  });
}

void compare_with_peer(std::vector<LadderEntry>& entries, std::span<const TimeSeries> series, Margins margins,
                       std::uint64_t seed) {
  const std::optional<std::size_t> peer = best_peer(entries, series);
  if (!peer) return;
  for (LadderEntry& entry : entries) {
    LadderRow& row = entry.row;
    if (!row.time || row.kind == "peer") continue;
    const SeriesComparison comparison =
        compare_series(series[entry.series], series[entries[*peer].series], margins, seed);
    row.peer = entries[*peer].row.rung;
    row.ratio_to_peer = comparison.ratio;
    row.rounds = row.time->summary.n;
    row.verdict = comparison.verdict;
  }
}

Result<double> clock_now(StreamRef stream) {
  // The first reading also wakes a GPU that has gone to a lower clock.
  ROOFTILE_TRY(sm_clock_mhz(stream).status());
  return sm_clock_mhz(stream);
}

// `before` is the reading from before the measurement.
void note_clock(StreamRef stream, const Result<double>& before, LadderResult& result) {
  const Result<double> after = sm_clock_mhz(stream);
  if (!before.ok() || !after.ok()) {
    result.notes.push_back("no SM clock: " + (before.ok() ? after : before).status().sentence());
    return;
  }
  const Result<double> rated = rated_sm_clock_mhz(stream.device);
  result.sm_clock = SmClock{*before, *after, rated.ok() ? *rated : 0.0};
  if (result.sm_clock->throttled()) {
    result.notes.push_back(fmt::format("throttled: the SM clock was {:.0f} MHz before and {:.0f} MHz after{}",
                                       *before, *after,
                                       rated.ok() ? fmt::format(", rated {:.0f} MHz", *rated) : ""));
  }
}

void note_conditions(const GpuConditions& seen, LadderResult& result) {
  result.conditions = seen;
  if (!seen.unknown.empty())
    result.notes.push_back("no clocks and no power while measuring: " + seen.unknown);
  if (!seen.slowed_by.empty()) {
    result.notes.push_back(
        fmt::format("throttled: {} while measuring, SM clock from {:.0f} to {:.0f} MHz, up to {:.0f} W",
                    seen.slowed_by, seen.lowest_sm_mhz, seen.highest_sm_mhz, seen.highest_power_w));
  }
}

// Too little memory, or a mode that a peer has no time in, is no mistake of it.
bool says_nothing(const Status& status) {
  return status.code() == StatusCode::unsupported || status.code() == StatusCode::out_of_memory;
}

// Where its process does not time it in this mode the row says so.
void add_process_launch(LadderEntry& entry, DeviceProblem& problem, TimeMode mode,
                        std::vector<TimedLaunch>& launches) {
  Result<TimedLaunch> launch = process_launch(entry, problem, mode);
  if (!launch.ok()) {
    const bool is_skipped = says_nothing(launch.status());
    entry.row.status = is_skipped ? RowStatus::skipped : RowStatus::failed;
    entry.row.verified = entry.row.verified && is_skipped;
    entry.row.reason = launch.status().sentence();
    return;
  }
  entry.timed = true;
  entry.series = launches.size();
  launches.push_back(std::move(*launch));
}

void add_process_check(PeerProcess& process, StreamRef stream, LadderResult& result,
                       std::vector<TimedLaunch>& launches, std::optional<ProcessCheck>& check) {
  Result<ProcessCheck> made =
      ProcessCheck::create(stream, process, result.mode, 0.5 * (result.read_bytes + result.write_bytes));
  if (!made.ok()) {
    result.notes.push_back("no cross-process check: " + made.status().sentence());
    return;
  }
  check = std::move(*made);
  check->add_to(launches, stream);
}

}  // namespace

void set_time(LadderRow& row, const TimeSeries& series, TimeMode mode, double bytes, double flops) {
  row.time = RowTime{summarize(series.samples_us), mode, series.samples_us,
                     !too_wide(series.samples_us, kBootstrapSeed)};
  if (!row.time->steady) row.verdict = Verdict::insufficient;
  const double median_us = row.time->summary.median;
  if (!(median_us > 0.0)) return;
  row.gbps = bytes / median_us * 1e-3;
  row.tflops = flops / median_us * 1e-6;
}

Status time_entries(std::vector<LadderEntry>& entries, DeviceProblem& problem, const LadderOptions& options,
                    LadderResult& result) {
  const StreamRef stream = problem.stream();
  const DeviceKind kind = stream.device.kind;
  if (writes_nothing(problem.host().op(), problem.args())) {
    result.notes.push_back("nothing to time: the call writes no element");
    return {};
  }
  ROOFTILE_TRY_ASSIGN(const std::function<Status()> renew, problem.make_renewal());
  std::vector<TimedLaunch> launches;
  PeerProcess* process = nullptr;  // that something is timed in
  for (LadderEntry& entry : entries) {
    if (!entry.row.verified) continue;
    if (entry.process != nullptr) {
      add_process_launch(entry, problem, result.mode, launches);
      process = entry.timed ? entry.process : process;
      continue;
    }
    Result<Scratch> scratch = problem.make_scratch(entry.candidate.plan.workspace);
    if (!scratch.ok()) {
      entry.row.status = RowStatus::skipped;
      entry.row.reason = scratch.status().sentence();
      continue;
    }
    entry.scratch = std::move(*scratch);
    Result<LaunchFn> launch =
        prepared_launch(entry.candidate, problem.call(entry.candidate.plan, entry.scratch.workspace()));
    if (!launch.ok()) {
      entry.row.status = RowStatus::failed;
      entry.row.verified = false;
      entry.row.reason = launch.status().sentence();
      continue;
    }
    entry.timed = true;
    const WorkspaceSpec& workspace = entry.candidate.plan.workspace;
    entry.row.workspace_bytes = workspace.bytes + workspace.zeroed_bytes;
    if (kind == DeviceKind::cuda) {
      Result<GpuLaunches> found = gpu_launches(
          stream, [&] { return (*launch)(problem.call(entry.candidate.plan, entry.scratch.workspace())); });
      if (found.ok()) entry.row.launches = std::move(*found);
    }
    entry.series = launches.size();
    launches.push_back(
        {.launch =
             [&problem, &entry, launch = std::move(*launch), workspace = entry.scratch.workspace()] {
               return launch(problem.call(entry.candidate.plan, workspace));
             },
         .prepare = renew,
         .check =
             [&problem, &entry](const std::function<Status()>& run) {
               return check_again(entry.check, problem, entry.scratch, run);
             }});
  }
  if (launches.empty()) return {};
  result.takes_turns = process != nullptr;

  const std::size_t first_bound = launches.size();
  const CaseBound bound(stream, problem.properties(), result);
  for (TimedLaunch& launch : bound.launches()) launches.push_back(std::move(launch));
  const std::size_t bound_launches = launches.size() - first_bound;

  std::optional<ProcessCheck> process_check;
  if (process != nullptr) add_process_check(*process, stream, result, launches, process_check);

  const bool has_sm_clock = kind == DeviceKind::cuda;
  const Result<double> clock_before = has_sm_clock ? clock_now(stream) : Result<double>(0.0);
  std::optional<GpuMonitor> monitor;
  if (kind == DeviceKind::cuda) monitor.emplace(stream.device);
  TimingOptions timing = options.timing;
  timing.mode = result.mode;
  const std::uint64_t seed = result.the_case.seed;
  // What the GPU does between the last round and the end is not the measurement.
  timing.on_timed = [&] {
    if (monitor) note_conditions(monitor->finish(), result);
    if (has_sm_clock) note_clock(stream, clock_before, result);
  };
  const double bytes = result.read_bytes + result.write_bytes;
  const Margins margins = margins_of(problem.properties(), timing.mode, bytes);
  TimingRemarks remarks;
  ROOFTILE_TRY_ASSIGN(
      const std::vector<TimeSeries> series,
      time_interleaved(
          stream, problem.properties(), launches, timing,
          [&](std::span<const TimeSeries> so_far) { return all_decided(entries, so_far, margins, seed); },
          &remarks));
  if (!remarks.caveat.empty()) result.notes.push_back(remarks.caveat);
  result.flush_bytes = static_cast<double>(remarks.flush_bytes);
  result.budget_s = timing.budget_s;
  if (process_check) {
    Result<Interval> copies = process_check->ratio(series, seed);
    if (copies.ok())
      result.process_copy = *copies;
    else
      result.notes.push_back("no cross-process check: " + copies.status().sentence());
  }

  if (margins.near_cache) {
    result.notes.push_back(
        "data of about the last-level cache's size: how much of it stays there depends on where it lies, and times by "
        "up to 4 %: less is no difference here");
  }
  for (LadderEntry& entry : entries) {
    if (!entry.timed) continue;
    const TimeSeries& own = series[entry.series];
    if (own.status.ok()) {
      set_time(entry.row, own, timing.mode, bytes, result.flops);
    } else {
      const bool is_skipped = entry.process != nullptr && says_nothing(own.status);
      entry.row.status = is_skipped ? RowStatus::skipped : RowStatus::failed;
      entry.row.verified = entry.row.verified && is_skipped;
      entry.row.reason = own.status.sentence();
    }
  }
  compare_with_peer(entries, series, margins, seed);
  std::optional<LadderRow> row = bound.row(std::span(series).subspan(first_bound, bound_launches), result);
  if (!row) return {};
  for (LadderEntry& entry : entries) set_bound_fraction(entry.row, *row, bytes);
  note_launch_bound(*row, result);
  entries.emplace_back().row = std::move(*row);
  return {};
}

bool SmClock::throttled() const {
  return after_mhz < kSteadyClock * before_mhz || std::min(before_mhz, after_mhz) < kFullClock * rated_mhz;
}

}  // namespace rooftile::lab
