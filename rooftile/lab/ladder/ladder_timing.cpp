#include "rooftile/lab/ladder/ladder_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "rooftile/lab/time/gpu_clock.h"
#include "rooftile/lab/time/head_to_head.h"
#include "rooftile/lab/time/stream_bound.h"

namespace rooftile::lab {
namespace {

// Faster than the bound by more than this: the bytes or the flops of the case are counted wrongly.
constexpr double kImpossibleFraction = 1.05;
// Below this many bytes launching decides and not moving them: a share of the bound says little there.
constexpr double kLaunchBoundBytes = 2.0 * 1024 * 1024;
constexpr double kSteadyClock = 0.95;
constexpr double kFullClock = 0.9;
constexpr std::uint64_t kBootstrapSeed = 1;

void set_time(LadderRow& row, const TimeSeries& series, TimeMode mode, double bytes, double flops) {
  row.time = RowTime{summarize(series.samples_us), mode, series.samples_us,
                     !too_wide(series.samples_us, kBootstrapSeed)};
  if (!row.time->steady) row.verdict = Verdict::insufficient;
  const double median_us = row.time->summary.median;
  if (!(median_us > 0.0)) return;
  row.gbps = bytes / median_us * 1e-3;
  row.tflops = flops / median_us * 1e-6;
}

void set_bound_fraction(LadderRow& row, double bound_us, double bytes) {
  if (!row.time || !(row.time->summary.median > 0.0)) return;
  row.bound_fraction = bound_us / row.time->summary.median;
  if (*row.bound_fraction > kImpossibleFraction && bytes >= kLaunchBoundBytes) {
    row.reason = fmt::format("counting error: {:.2f} of the bound, but nothing moves these bytes faster",
                             *row.bound_fraction);
  }
}

const LadderEntry* best_peer(const std::vector<LadderEntry>& entries) {
  const LadderEntry* best = nullptr;
  for (const LadderEntry& entry : entries) {
    if (entry.row.kind != "peer" || !entry.row.time) continue;
    if (best == nullptr || entry.row.time->summary.median < best->row.time->summary.median) best = &entry;
  }
  return best;
}

// Every timed rung against the best peer.
void compare_with_peer(std::vector<LadderEntry>& entries, const std::vector<TimedLaunch>& launches,
                       DeviceProblem& problem, const LadderOptions& options, LadderResult& result) {
  const LadderEntry* peer = best_peer(entries);
  if (peer == nullptr) return;
  const auto rivals = std::count_if(entries.begin(), entries.end(), [](const LadderEntry& entry) {
    return entry.row.time && entry.row.kind != "peer";
  });
  DuelOptions duel_options;
  duel_options.mode = options.timing.mode;
  duel_options.seed = result.the_case.seed;
  // All of them together take at most as long again as the interleaved rounds.
  duel_options.budget_s = std::min(duel_options.budget_s,
                                   options.timing.budget_s / static_cast<double>(std::max<long>(rivals, 1)));
  for (LadderEntry& entry : entries) {
    LadderRow& row = entry.row;
    if (!row.time || row.kind == "peer") continue;
    if (options.on_step) options.on_step(fmt::format("{} against {}", row.rung, peer->row.rung));
    const Result<Duel> duel = compare_launches(problem.stream(), problem.properties(), launches[entry.series],
                                               launches[peer->series], duel_options);
    if (!duel.ok()) {
      result.notes.push_back(fmt::format("{} was not compared: {}", row.rung, duel.status().sentence()));
      continue;
    }
    row.peer = peer->row.rung;
    row.ratio_to_peer = duel->ratio;
    row.quads = duel->quads;
    row.verdict = duel->verdict;
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

// The row of the fastest way to stream the bytes of the case, and every
// row's share of it. `series` holds the times of bound.accesses().
void add_bound(std::vector<LadderEntry>& entries, const StreamBound& bound,
               std::span<const TimeSeries> series, TimeMode mode, LadderResult& result) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!series[i].status.ok()) {
      result.notes.push_back("no streaming bound: " + series[i].status.sentence());
      return;
    }
    if (summarize(series[i].samples_us).median < summarize(series[best].samples_us).median) best = i;
  }
  LadderRow row;
  row.rung = "streaming_bound";
  row.kind = "bound";
  row.idea = "The same bytes in the same mix of reads and writes, and nothing else.";
  if (series.size() > 1) {
    row.reason = fmt::format("{}, the fastest of {} ways to move the same bytes in the same mix",
                             to_string(bound.accesses()[best]), series.size());
  }
  row.verified = true;
  set_time(row, series[best], mode, bound.bytes(), 0.0);
  const double bytes = result.read_bytes + result.write_bytes;
  for (LadderEntry& entry : entries) set_bound_fraction(entry.row, row.time->summary.median, bytes);
  if (bytes < kLaunchBoundBytes) {
    result.notes.push_back(
        "launch-bound: so few bytes that launching decides; shares of the bound say little");
  }
  row.bound_fraction = 1.0;
  LadderEntry entry;
  entry.row = std::move(row);
  entries.push_back(std::move(entry));
}

}  // namespace

Status time_entries(std::vector<LadderEntry>& entries, DeviceProblem& problem, const LadderOptions& options,
                    LadderResult& result) {
  const StreamRef stream = problem.stream();
  std::vector<TimedLaunch> launches;
  for (LadderEntry& entry : entries) {
    if (!entry.row.verified) continue;
    Result<Scratch> scratch = problem.make_scratch(entry.candidate.plan.workspace);
    if (!scratch.ok()) {
      entry.row.status = RowStatus::skipped;
      entry.row.reason = scratch.status().sentence();
      continue;
    }
    entry.scratch = std::move(*scratch);
    entry.timed = true;
    entry.series = launches.size();
    launches.push_back({[&problem, &entry, workspace = entry.scratch.workspace()] {
      return entry.candidate.launch(problem.call(entry.candidate.plan, workspace));
    }});
  }
  if (launches.empty()) return {};

  const std::size_t first_bound = launches.size();
  Result<StreamBound> bound = StreamBound::create(stream, result.read_bytes, result.write_bytes);
  if (bound.ok()) {
    for (const StreamAccess access : bound->accesses()) {
      launches.push_back({[&bound, stream, access] { return bound->launch(stream, access); }});
    }
  } else {
    result.notes.push_back("no streaming bound: " + bound.status().sentence());
  }

  const bool has_sm_clock = stream.device.kind == DeviceKind::cuda;
  const Result<double> clock_before = has_sm_clock ? clock_now(stream) : Result<double>(0.0);
  std::string caveat;
  ROOFTILE_TRY_ASSIGN(const std::vector<TimeSeries> series,
                      time_interleaved(stream, problem.properties(), launches, options.timing, &caveat));
  if (!caveat.empty()) result.notes.push_back(caveat);

  const double bytes = result.read_bytes + result.write_bytes;
  for (LadderEntry& entry : entries) {
    if (!entry.timed) continue;
    const TimeSeries& own = series[entry.series];
    if (own.status.ok()) {
      set_time(entry.row, own, options.timing.mode, bytes, result.flops);
    } else {
      entry.row.status = RowStatus::failed;
      entry.row.reason = own.status.sentence();
    }
  }
  compare_with_peer(entries, launches, problem, options, result);
  if (has_sm_clock) note_clock(stream, clock_before, result);
  if (bound.ok()) {
    add_bound(entries, *bound, std::span(series).subspan(first_bound), options.timing.mode, result);
  }
  return {};
}

bool SmClock::throttled() const {
  return after_mhz < kSteadyClock * before_mhz || std::min(before_mhz, after_mhz) < kFullClock * rated_mhz;
}

}  // namespace rooftile::lab
