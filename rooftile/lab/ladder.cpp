#include "rooftile/lab/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "rooftile/lab/candidate.h"
#include "rooftile/lab/gpu_clock.h"
#include "rooftile/lab/head_to_head.h"
#include "rooftile/lab/problem.h"
#include "rooftile/lab/stream_bound.h"
#include "rooftile/lab/verify.h"

namespace rooftile::lab {
namespace {

// Faster than the bound by more than this: the bytes or the flops of the case are counted wrongly.
constexpr double kImpossibleFraction = 1.05;
// Below this many bytes launching decides and not moving them: a share of the bound says little there.
constexpr double kLaunchBoundBytes = 2.0 * 1024 * 1024;
constexpr double kSteadyClock = 0.95;
constexpr double kFullClock = 0.9;
constexpr std::uint64_t kBootstrapSeed = 1;

void step(const LadderOptions& options, std::string_view text) {
  if (options.on_step) options.on_step(text);
}

double case_bytes(const OperatorCases& cases, const Case& c) {
  const Result<CasePlan> plan = cases.plan(c);
  return plan.ok() ? plan->read_bytes + plan->write_bytes : 0.0;
}

bool same_params(const Case& a, const Case& b) { return a.params.values() == b.params.values(); }

// The case itself where it is small enough to simulate, else the largest quick-tier case of the same dtype
// and parameters; none where there is no such case.
std::optional<Case> simulated_case(const OperatorCases& cases, const Case& wanted, double limit_bytes) {
  std::optional<Case> best;
  for (Case& c : cases.cases()) {
    const bool alike = c.tier == CaseTier::quick && c.dtype == wanted.dtype && same_params(c, wanted) &&
                       c.fill == wanted.fill && c.offset == wanted.offset;
    if (alike && (!best || case_bytes(cases, c) > case_bytes(cases, *best))) best = std::move(c);
  }
  const double wanted_bytes = case_bytes(cases, wanted);
  if (wanted_bytes <= limit_bytes || (best && wanted_bytes <= case_bytes(cases, *best))) return wanted;
  if (best) best->seed = wanted.seed;
  return best;
}

std::string device_names(const std::vector<Device>& devices) {
  std::vector<std::string> names;
  for (const Device device : devices) names.push_back(to_string(device));
  return fmt::format("{}", fmt::join(names, ", "));
}

// A row of the ladder on its way from the candidate to its numbers.
struct Entry {
  LadderRow row;
  Candidate candidate;
  Scratch scratch;
  std::size_t series = 0;  // index of its time series, where it was timed
  bool timed = false;
};

LadderRow make_row(const Candidate& candidate, const std::string& chosen) {
  LadderRow row;
  row.rung = candidate.id;
  row.kind = to_string(candidate.kind);
  row.idea = candidate.idea;
  row.chosen = candidate.kind != CandidateKind::peer && candidate.id == chosen;
  if (!candidate.unsupported.empty()) {
    row.status = candidate.built ? RowStatus::skipped : RowStatus::not_built;
    row.reason = candidate.unsupported;
  }
  return row;
}

void verify_entry(Entry& entry, DeviceProblem& problem) {
  LadderRow& row = entry.row;
  if (row.status != RowStatus::ok) return;
  const CheckResult check = check_candidate(entry.candidate, problem);
  row.error = check.max_error;
  row.verified = check.status == CheckStatus::passed;
  row.reason = check.reason;
  if (check.status == CheckStatus::failed) row.status = RowStatus::failed;
  if (check.status == CheckStatus::skipped) row.status = RowStatus::skipped;
  if (row.verified && problem.properties().device.kind == DeviceKind::sim) {
    row.simulated = true;
    row.reason = "simulated";
  }
}

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

const Entry* best_peer(const std::vector<Entry>& entries) {
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    if (entry.row.kind != "peer" || !entry.row.time) continue;
    if (best == nullptr || entry.row.time->summary.median < best->row.time->summary.median) best = &entry;
  }
  return best;
}

// Every timed rung against the best peer.
void compare_with_peer(std::vector<Entry>& entries, const std::vector<TimedLaunch>& launches,
                       DeviceProblem& problem, const LadderOptions& options, LadderResult& result) {
  const Entry* peer = best_peer(entries);
  if (peer == nullptr) return;
  const auto rivals = std::count_if(entries.begin(), entries.end(), [](const Entry& entry) {
    return entry.row.time && entry.row.kind != "peer";
  });
  DuelOptions duel_options;
  duel_options.mode = options.timing.mode;
  duel_options.seed = result.the_case.seed;
  // All of them together take at most as long again as the interleaved rounds.
  duel_options.budget_s = std::min(duel_options.budget_s,
                                   options.timing.budget_s / static_cast<double>(std::max<long>(rivals, 1)));
  for (Entry& entry : entries) {
    LadderRow& row = entry.row;
    if (!row.time || row.kind == "peer") continue;
    step(options, fmt::format("{} against {}", row.rung, peer->row.rung));
    const Result<Duel> duel = compare_launches(problem.stream(), problem.properties(), launches[entry.series],
                                               launches[peer->series], duel_options);
    if (!duel.ok()) {
      result.notes.push_back(fmt::format("{} was not compared: {}", row.rung, duel.status().message()));
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
    result.notes.push_back("no SM clock: " + (before.ok() ? after : before).status().message());
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

// The row of the fastest way to stream the bytes of the case, and every row's share of it. `series` holds the
// times of bound.accesses().
void add_bound(std::vector<Entry>& entries, const StreamBound& bound, std::span<const TimeSeries> series,
               TimeMode mode, LadderResult& result) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!series[i].status.ok()) {
      result.notes.push_back("no streaming bound: " + series[i].status.message());
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
  for (Entry& entry : entries) set_bound_fraction(entry.row, row.time->summary.median, bytes);
  if (bytes < kLaunchBoundBytes) {
    result.notes.push_back(
        "launch-bound: so few bytes that launching decides; shares of the bound say little");
  }
  row.bound_fraction = 1.0;
  Entry entry;
  entry.row = std::move(row);
  entries.push_back(std::move(entry));
}

// Times all verified entries and the bound together, and fills in what follows from the times.
Status time_entries(std::vector<Entry>& entries, DeviceProblem& problem, const LadderOptions& options,
                    LadderResult& result) {
  const StreamRef stream = problem.stream();
  std::vector<TimedLaunch> launches;
  for (Entry& entry : entries) {
    if (!entry.row.verified) continue;
    Result<Scratch> scratch = problem.make_scratch(entry.candidate.workspace);
    if (!scratch.ok()) {
      entry.row.status = RowStatus::skipped;
      entry.row.reason = scratch.status().message();
      continue;
    }
    entry.scratch = std::move(*scratch);
    entry.timed = true;
    entry.series = launches.size();
    launches.push_back({[&problem, &entry, workspace = entry.scratch.workspace()] {
      return entry.candidate.launch(problem.stream(), problem.properties(), problem.args(), workspace);
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
    result.notes.push_back("no streaming bound: " + bound.status().message());
  }

  const bool has_sm_clock = stream.device.kind == DeviceKind::cuda;
  const Result<double> clock_before = has_sm_clock ? clock_now(stream) : Result<double>(0.0);
  std::string caveat;
  ROOFTILE_TRY_ASSIGN(const std::vector<TimeSeries> series,
                      time_interleaved(stream, problem.properties(), launches, options.timing, &caveat));
  if (!caveat.empty()) result.notes.push_back(caveat);

  const double bytes = result.read_bytes + result.write_bytes;
  for (Entry& entry : entries) {
    if (!entry.timed) continue;
    const TimeSeries& own = series[entry.series];
    if (own.status.ok()) {
      set_time(entry.row, own, options.timing.mode, bytes, result.flops);
    } else {
      entry.row.status = RowStatus::failed;
      entry.row.reason = own.status.message();
    }
  }
  compare_with_peer(entries, launches, problem, options, result);
  if (has_sm_clock) note_clock(stream, clock_before, result);
  if (bound.ok()) {
    add_bound(entries, *bound, std::span(series).subspan(first_bound), options.timing.mode, result);
  }
  return {};
}

Result<LadderResult> climb(const Registry& registry, const OperatorDescriptor& op, const OperatorCases& cases,
                           const Case& c, Device device, const LadderOptions& options) {
  ROOFTILE_TRY_ASSIGN(HostProblem host, HostProblem::create(op, cases, c));
  LadderResult result;
  result.device = device;
  result.the_case = c;
  result.read_bytes = host.plan().read_bytes;
  result.write_bytes = host.plan().write_bytes;
  result.flops = host.plan().flops;
  step(options, fmt::format("{} on {}: inputs of {}", op.name, to_string(device), case_id(c)));
  ROOFTILE_TRY_ASSIGN(DeviceProblem problem, DeviceProblem::create(host, device));
  const std::string chosen = op.choose ? op.choose(problem.args(), problem.properties()) : "";

  std::vector<Entry> entries;
  for (Candidate& candidate :
       candidates(op, registry.peers(op.name), options.rungs, problem.args(), problem.properties())) {
    Entry entry;
    entry.row = make_row(candidate, chosen);
    entry.candidate = std::move(candidate);
    entries.push_back(std::move(entry));
  }
  for (Entry& entry : entries) {
    step(options, fmt::format("{} on {}: verifying {}", op.name, to_string(device), entry.row.rung));
    verify_entry(entry, problem);
  }
  if (device.kind != DeviceKind::sim) {
    step(options, fmt::format("{} on {}: measuring", op.name, to_string(device)));
    ROOFTILE_TRY(time_entries(entries, problem, options, result));
  }
  for (Entry& entry : entries) result.rows.push_back(std::move(entry.row));
  return result;
}

Result<LadderResult> climb_simulated(const Registry& registry, const OperatorDescriptor& op,
                                     const OperatorCases& cases, const Case& wanted,
                                     const LadderOptions& options) {
  // Checked as it was asked for, so that a wrong call is not hidden by the shrinking.
  ROOFTILE_TRY(HostProblem::create(op, cases, wanted).status());
  // A size that was asked for is kept while it is bearable.
  const bool asked = !options.request.shape.empty() && !options.devices.empty();
  const std::optional<Case> c = simulated_case(cases, wanted, asked ? kLargestSimulatedBytes : 0.0);
  if (!c) {
    return unsupported(fmt::format("{} is too large to simulate: give a smaller --shape", case_id(wanted)))
        .with_operator(op.name);
  }
  ROOFTILE_TRY_ASSIGN(LadderResult result, climb(registry, op, cases, *c, kSim, options));
  result.notes.push_back(
      "simulated: the GPU kernel sources, executed and verified by the simulated SM; no time");
  if (rooftile::to_string(c->shape) != rooftile::to_string(wanted.shape)) {
    result.notes.push_back(
        fmt::format("{} in place of {}: the simulated SM executes every thread of the grid",
                    rooftile::to_string(c->shape), rooftile::to_string(wanted.shape)));
  }
  return result;
}

}  // namespace

std::string_view to_string(RowStatus status) {
  switch (status) {
    case RowStatus::ok:
      return "ok";
    case RowStatus::skipped:
      return "skipped";
    case RowStatus::failed:
      return "failed";
    case RowStatus::not_built:
      return "not_built";
  }
  return "failed";
}

bool SmClock::throttled() const {
  return after_mhz < kSteadyClock * before_mhz || std::min(before_mhz, after_mhz) < kFullClock * rated_mhz;
}

bool LadderReport::failed() const {
  for (const LadderResult& result : results) {
    for (const LadderRow& row : result.rows) {
      if (row.status == RowStatus::failed) return true;
    }
  }
  return false;
}

Result<LadderReport> run_ladder(const Registry& registry, const OperatorDescriptor& op,
                                const LadderOptions& options) {
  const OperatorCases* cases = registry.cases(op.name);
  if (cases == nullptr) return internal_error("no cases are registered").with_operator(op.name);
  ROOFTILE_TRY(check_rung_names(op, registry.peers(op.name), options.rungs));
  std::vector<Device> devices = options.devices;
  if (devices.empty()) {
    devices =
        cuda_availability().ok() ? std::vector<Device>{default_device()} : std::vector<Device>{kCpu, kSim};
  }

  LadderReport report;
  report.operator_name = op.name;
  report.summary = op.summary;
  report.mode = options.timing.mode;
  for (const Device device : devices) {
    if (!has_candidates(op, registry.peers(op.name), options.rungs, device.kind)) continue;
    ROOFTILE_TRY_ASSIGN(const Case c, make_case(op, *cases, options.request, device.kind));
    Result<LadderResult> result = device.kind == DeviceKind::sim
                                      ? climb_simulated(registry, op, *cases, c, options)
                                      : climb(registry, op, *cases, c, device, options);
    if (!result.ok()) return result.status();
    report.results.push_back(std::move(*result));
  }
  if (report.results.empty()) {
    const std::string wanted =
        options.rungs.empty() ? "its rungs" : fmt::format("{}", fmt::join(options.rungs, ", "));
    return invalid_argument(
               fmt::format("none of {} runs on {}: cpu rungs run on cpu, the others on cuda and sim", wanted,
                           device_names(devices)))
        .with_operator(op.name);
  }
  return report;
}

}  // namespace rooftile::lab
