#include "rooftile/lab/ladder/verdict_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "rooftile/lab/case/candidate.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/check/verify.h"

namespace rooftile::lab {
namespace {

// One case of a rung, ready to be launched.
struct Side {
  HostProblem host;
  DeviceProblem problem;
  Candidate candidate;
  Scratch scratch;

  // On the stream of the comparison, which times both sides; prepare() has waited for this side's own.
  [[nodiscard]] TimedLaunch launch_on(StreamRef stream) const {
    return {[this, stream] {
      AnyCall call = problem.call(candidate.plan, scratch.workspace());
      call.stream = stream;
      return candidate.launch(call);
    }};
  }
};

// In place, because a DeviceProblem keeps the address of its HostProblem.
Status prepare(const OperatorDescriptor& op, const OperatorCases& cases, const Case& c, Device device,
               std::string& rung, Side& side) {
  ROOFTILE_TRY_ASSIGN(side.host, HostProblem::create(op, cases, c));
  ROOFTILE_TRY_ASSIGN(side.problem, DeviceProblem::create(side.host, device));
  if (rung.empty() && op.choose) rung = op.choose(side.problem.args(), side.problem.properties());
  const std::vector<Candidate> found =
      candidates(op, {}, {rung}, side.problem.args(), side.problem.properties());
  if (found.empty()) {
    return invalid_argument(fmt::format("{} does not run on {}: cpu rungs run on cpu, the others on cuda",
                                        rung, to_string(device)))
        .with_operator(op.name);
  }
  side.candidate = found.front();
  if (!side.candidate.unsupported.empty()) {
    return unsupported(fmt::format("{} does not serve {}: {}", rung, case_id(c), side.candidate.unsupported))
        .with_operator(op.name);
  }
  const CheckResult check = check_candidate(side.candidate, side.problem);
  if (check.status != CheckStatus::passed) {
    return Status::error(StatusCode::check_failed,
                         fmt::format("{} is not timed: it failed its check: {}", check.id, check.reason));
  }
  ROOFTILE_TRY_ASSIGN(const std::function<Status()> renew, side.problem.make_renewal());
  if (renew) {
    return invalid_argument(
               "verdicts are tried on calls that overwrite no input: no inout slots, and not in place")
        .with_operator(op.name);
  }
  ROOFTILE_TRY_ASSIGN(side.scratch, side.problem.make_scratch(side.candidate.plan.workspace));
  return {};
}

// The same case with its largest extent larger by this share.
Case enlarged(Case c, double difference) {
  const auto largest = std::max_element(c.shape.begin(), c.shape.end(),
                                        [](const auto& x, const auto& y) { return x.second < y.second; });
  if (largest != c.shape.end()) {
    largest->second += std::llround(static_cast<double>(largest->second) * difference);
  }
  return c;
}

void count(VerdictCounts& counts, const SeriesComparison& comparison) {
  const double ratio = comparison.ratio.median;
  counts.low = counts.runs == 0 ? ratio : std::min(counts.low, ratio);
  counts.high = counts.runs == 0 ? ratio : std::max(counts.high, ratio);
  ++counts.of[static_cast<std::size_t>(comparison.verdict)];
  ++counts.runs;
}

// Other rungs on the same tensors as `side`, verified: what a ladder would time beside it.
struct Neighbour {
  Candidate candidate;
  Scratch scratch;
};
Result<std::vector<Neighbour>> find_neighbours(const OperatorDescriptor& op, Side& side, int most) {
  std::vector<Neighbour> found;
  for (Candidate& candidate : candidates(op, {}, {}, side.problem.args(), side.problem.properties())) {
    if (std::ssize(found) >= most) break;
    if (candidate.id == side.candidate.id || !candidate.unsupported.empty()) continue;
    if (check_candidate(candidate, side.problem).status != CheckStatus::passed) continue;
    Neighbour neighbour;
    ROOFTILE_TRY_ASSIGN(neighbour.scratch, side.problem.make_scratch(candidate.plan.workspace));
    neighbour.candidate = std::move(candidate);
    found.push_back(std::move(neighbour));
  }
  return found;
}

}  // namespace

double VerdictCounts::share(Verdict verdict) const {
  return runs == 0 ? 0.0 : static_cast<double>(count(verdict)) / runs;
}

std::string VerdictTrial::finding() const {
  const double wrong = same.share(Verdict::faster) + same.share(Verdict::slower);
  const double found = differs.share(Verdict::faster);
  std::string text;
  if (!(wrong <= kMostFalse)) {
    text = fmt::format("{:.1f} % of the A/A comparisons say that a launch differs from itself, {:.0f} % may",
                       100.0 * wrong, 100.0 * kMostFalse);
  }
  if (!(found >= kFewestFound)) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{:.1f} % of the A/B comparisons find the difference of {:.1f} %, {:.0f} % must",
                        100.0 * found, 100.0 * difference, 100.0 * kFewestFound);
  }
  return text;
}

Result<VerdictTrial> try_verdicts(const Registry& registry, const OperatorDescriptor& op,
                                  const VerdictTrialOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const OperatorCases* cases = registry.cases(op.name);
  if (cases == nullptr) return internal_error("no cases are registered").with_operator(op.name);
  if (options.device.kind == DeviceKind::sim) {
    return invalid_argument("the simulated SM has no time: try verdicts on cpu or cuda");
  }
  if (!options.rung.empty()) ROOFTILE_TRY(check_rung_names(op, {}, {options.rung}));

  VerdictTrial result;
  result.operator_name = op.name;
  result.rung = options.rung;
  result.device = options.device;
  result.mode = options.timing.mode;
  ROOFTILE_TRY_ASSIGN(result.a, make_case(op, *cases, options.request, options.device.kind));
  result.b = enlarged(result.a, options.difference);
  Side a;
  Side twin;  // the same with buffers of its own
  Side b;
  ROOFTILE_TRY(prepare(op, *cases, result.a, options.device, result.rung, a));
  ROOFTILE_TRY(prepare(op, *cases, result.a, options.device, result.rung, twin));
  ROOFTILE_TRY(prepare(op, *cases, result.b, options.device, result.rung, b));
  const auto bytes = [](const Side& side) {
    return side.host.plan().read_bytes + side.host.plan().write_bytes;
  };
  if (!(bytes(b) > bytes(a))) {
    return invalid_argument(fmt::format("{} is too small to differ by {:.1f} %: choose a larger --shape",
                                        case_id(result.a), 100.0 * options.difference));
  }
  result.difference = bytes(b) / bytes(a) - 1.0;

  ROOFTILE_TRY_ASSIGN(const std::vector<Neighbour> neighbours, find_neighbours(op, a, options.neighbours));
  const StreamRef stream = a.problem.stream();
  std::vector<TimedLaunch> launches = {a.launch_on(stream), twin.launch_on(stream), b.launch_on(stream)};
  for (const Neighbour& neighbour : neighbours) {
    result.neighbours.push_back(neighbour.candidate.id);
    launches.push_back({.launch = [&a, &neighbour] {
      return neighbour.candidate.launch(
          a.problem.call(neighbour.candidate.plan, neighbour.scratch.workspace()));
    }});
  }
  const Margins margins = margins_of(a.problem.properties(), options.timing.mode, bytes(a));
  TimingRemarks remarks;
  std::vector<double> medians_us;
  for (int run = 0; run < options.runs; ++run) {
    if (options.on_run) options.on_run(run, options.runs);
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(run);
    const auto against = [&](std::span<const TimeSeries> series, std::size_t other) {
      return compare_series(series[0], series[other], margins, seed);
    };
    TimingOptions timing = options.timing;
    timing.order_seed = seed;
    ROOFTILE_TRY_ASSIGN(const std::vector<TimeSeries> series,
                        time_interleaved(
                            stream, a.problem.properties(), launches, timing,
                            [&](std::span<const TimeSeries> so_far) {
                              return against(so_far, 1).verdict != Verdict::insufficient &&
                                     against(so_far, 2).verdict != Verdict::insufficient;
                            },
                            &remarks));
    for (const std::size_t own : {0, 1, 2}) ROOFTILE_TRY(series[own].status);
    count(result.same, against(series, 1));
    count(result.differs, against(series, 2));
    medians_us.push_back(quantile(series[0].samples_us, 0.5));
  }
  result.caveat = remarks.caveat;
  result.median_us = quantile(medians_us, 0.5);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace rooftile::lab
