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

void count(VerdictCounts& counts, const Duel& duel) {
  counts.low = counts.runs == 0 ? duel.ratio.median : std::min(counts.low, duel.ratio.median);
  counts.high = counts.runs == 0 ? duel.ratio.median : std::max(counts.high, duel.ratio.median);
  ++counts.of[static_cast<std::size_t>(duel.verdict)];
  ++counts.runs;
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
  result.mode = options.duel.mode;
  ROOFTILE_TRY_ASSIGN(result.a, make_case(op, *cases, options.request, options.device.kind));
  result.b = enlarged(result.a, options.difference);
  Side a;
  Side b;
  ROOFTILE_TRY(prepare(op, *cases, result.a, options.device, result.rung, a));
  ROOFTILE_TRY(prepare(op, *cases, result.b, options.device, result.rung, b));
  const auto bytes = [](const Side& side) {
    return side.host.plan().read_bytes + side.host.plan().write_bytes;
  };
  if (!(bytes(b) > bytes(a))) {
    return invalid_argument(fmt::format("{} is too small to differ by {:.1f} %: choose a larger --shape",
                                        case_id(result.a), 100.0 * options.difference));
  }
  result.difference = bytes(b) / bytes(a) - 1.0;

  DuelOptions duel_options = options.duel;
  std::vector<double> medians_us;
  for (int run = 0; run < options.runs; ++run) {
    if (options.on_run) options.on_run(run, options.runs);
    duel_options.seed = options.duel.seed + static_cast<std::uint64_t>(run);
    for (const bool against_itself : {true, false}) {
      const StreamRef stream = a.problem.stream();
      const TimedLaunch other = (against_itself ? a : b).launch_on(stream);
      ROOFTILE_TRY_ASSIGN(const Duel duel, compare_launches(stream, a.problem.properties(),
                                                            a.launch_on(stream), other, duel_options));
      count(against_itself ? result.same : result.differs, duel);
      medians_us.push_back(duel.a.median);
      result.caveat = duel.caveat;
    }
  }
  result.median_us = quantile(medians_us, 0.5);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace rooftile::lab
