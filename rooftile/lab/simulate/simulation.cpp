#include "rooftile/lab/simulate/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "rooftile/lab/check/verify.h"

namespace rooftile::lab {
namespace {

using simt::checked::Session;

constexpr int kPoison = 0xff;

void add_buffers(Session& session, const DeviceProblem& problem, const Scratch& scratch) {
  for (const DeviceTensor& tensor : problem.tensors()) {
    if (tensor.memory_of || tensor.absent) continue;
    const bool is_input = tensor.input.has_value();
    session.add_buffer({tensor.slot->name, tensor.buffer.data(), tensor.buffer.bytes(), is_input,
                        is_input && !tensor.overwritten});
  }
  session.add_buffer({"the workspace", scratch.any.data(), scratch.any.bytes(), false});
  session.add_buffer({"the zeroed workspace", scratch.zeroed.data(), scratch.zeroed.bytes(), true});
  session.add_buffer({"the error word", scratch.error_word.data(), scratch.error_word.bytes(), true});
}

Result<std::string> judge_outputs(DeviceProblem& problem, double& max_error) {
  std::string outside;
  ROOFTILE_TRY_ASSIGN(const std::vector<HostTensor> outputs, problem.download_written(kPoison, outside));
  if (!outside.empty()) return outside;
  ROOFTILE_TRY_ASSIGN(const Judgement judgement, problem.host().judge(outputs));
  max_error = std::max(max_error, judgement.max_error);
  return judgement.mismatch;
}

std::optional<double> ratio(const simt::checked::AccessCounts& counts, double value) {
  return counts.requests == 0 ? std::nullopt : std::optional(value);
}

std::optional<double> lanes_per_basic_block(const simt::checked::Report& report) {
  if (report.basic_blocks == 0) return std::nullopt;
  return static_cast<double>(report.basic_block_lanes) / static_cast<double>(report.basic_blocks);
}

Status check_expectations(const RungRow& rung, Simulation& simulation) {
  for (const AccessExpectation& expectation : rung.expects) {
    ROOFTILE_TRY_ASSIGN(const std::optional<double> value, access_metric(simulation, expectation.metric));
    if (value && *value >= expectation.at_least && *value <= expectation.at_most) continue;
    simulation.broken.push_back(fmt::format("{} is {}, expected {} to {}", expectation.metric,
                                            value ? fmt::format("{:.4g}", *value) : "not there",
                                            expectation.at_least, expectation.at_most));
  }
  return {};
}

// The operator with rungs that are wrong on purpose as if
// they were right: their mistakes are what there is to see.
OperatorDescriptor with_all_rungs_trusted(OperatorDescriptor op) {
  for (RungRow& rung : op.rungs) rung.wrong_on_purpose.clear();
  return op;
}

// Precondition: the candidate serves the problem.
Result<Simulation> simulate_case(const OperatorDescriptor& op, const Candidate& candidate,
                                 DeviceProblem& problem, const Case& wanted,
                                 const SimulationOptions& options) {
  const HostProblem& host = problem.host();
  Simulation simulation;
  simulation.operator_name = op.name;
  simulation.rung = candidate.id;
  simulation.idea = candidate.idea;
  simulation.the_case = host.the_case();
  simulation.shrunk = rooftile::to_string(host.the_case().shape) != rooftile::to_string(wanted.shape);
  simulation.bytes_needed = host.plan().read_bytes + host.plan().write_bytes;
  ROOFTILE_TRY_ASSIGN(simulation.run, watch_candidate(candidate, problem, options.session));
  const RungRow* row = op.find_rung(candidate.id);
  if (row != nullptr) simulation.wrong_on_purpose = row->wrong_on_purpose;
  const bool own_case = options.request.shape.empty() && options.request.args.empty() &&
                        !options.request.dtype && !options.request.fill && !options.request.offset &&
                        options.multiprocessors == 0;
  if (row != nullptr && own_case && options.session.metrics)
    ROOFTILE_TRY(check_expectations(*row, simulation));
  return simulation;
}

}  // namespace

std::vector<Case> simulated_cases(const OperatorCases& cases, const Case& wanted,
                                  const CaseRequest& request) {
  if (!request.shape.empty()) return {wanted};
  struct Choice {
    bool other_dtype;
    bool other_params;
    double bytes;
    Case c;
    [[nodiscard]] auto rank() const { return std::tuple(other_dtype, other_params, -bytes); }
  };
  std::vector<Choice> choices;
  for (Case& c : cases.cases()) {
    const bool other_dtype = c.dtype != wanted.dtype;
    const bool other_params = c.params.values() != wanted.params.values();
    if (c.tier != CaseTier::quick || c.fill != wanted.fill || c.offset != wanted.offset ||
        (other_dtype && request.dtype) || (other_params && !request.args.empty())) {
      continue;
    }
    const Result<CasePlan> plan = cases.plan(c);
    if (!plan.ok()) continue;
    c.seed = wanted.seed;
    choices.push_back({other_dtype, other_params, plan->read_bytes + plan->write_bytes, std::move(c)});
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.rank() < b.rank(); });
  std::vector<Case> sorted;
  for (Choice& choice : choices) sorted.push_back(std::move(choice.c));
  return sorted;
}

Result<std::optional<double>> access_metric(const Simulation& simulation, const std::string& name) {
  using simt::checked::AccessKind;
  using simt::checked::MemorySpace;
  const simt::checked::Report& report = simulation.run.report;
  const auto sectors = [&](AccessKind kind) {
    const auto counts = report.total(MemorySpace::global, kind);
    return ratio(counts, counts.sectors_per_request());
  };
  const auto conflicts = [&](AccessKind kind) {
    const auto counts = report.total(MemorySpace::shared, kind);
    return ratio(counts, counts.conflict_degree());
  };
  if (name == "global_load_sectors_per_request") return sectors(AccessKind::load);
  if (name == "global_store_sectors_per_request") return sectors(AccessKind::store);
  if (name == "shared_load_conflict_degree") return conflicts(AccessKind::load);
  if (name == "shared_store_conflict_degree") return conflicts(AccessKind::store);
  if (name == "constant_load_words_per_request") {
    const auto counts = report.total(MemorySpace::constant, AccessKind::load);
    return ratio(counts, counts.conflict_degree());
  }
  if (name == "atomic_lanes_per_address") {
    const auto counts = report.total(MemorySpace::global, AccessKind::atomic);
    return ratio(counts, counts.mean_multiplicity());
  }
  if (name == "active_lanes_per_request") return ratio(report.total(), report.total().lanes_per_request());
  if (name == "active_lanes_per_basic_block") return lanes_per_basic_block(report);
  if (name == "bytes_moved_over_needed") {
    return simulation.bytes_needed > 0 ? std::optional(report.bytes_moved() / simulation.bytes_needed)
                                       : std::nullopt;
  }
  return invalid_argument(fmt::format("no metric is called {}", name));
}

Result<WatchedRun> watch_candidate(const Candidate& candidate, DeviceProblem& problem,
                                   const simt::checked::SessionOptions& options) {
  if (!candidate.checked) {
    return unavailable(
        "this build has no instrumented kernels: configure with -DROOFTILE_CHECKED=ON, "
        "without sanitizers");
  }
  ROOFTILE_TRY_ASSIGN(const Scratch scratch, problem.make_scratch(candidate.plan.workspace));
  ROOFTILE_TRY(problem.prepare(kPoison));
  ROOFTILE_TRY(scratch.any.poison(problem.stream(), kPoison));

  WatchedRun run;
  ROOFTILE_TRY_ASSIGN(const std::unique_ptr<Session> session, Session::start(options));
  add_buffers(*session, problem, scratch);
  const Status launched = writes_nothing(problem.host().op(), problem.args())
                              ? Status()
                              : candidate.checked(problem.call(candidate.plan, scratch.workspace()));
  run.report = session->finish();
  if (launched.code() == StatusCode::unsupported)
    return launched;  // a dtype that the checked build leaves out
  run.wrong = launched.sentence();
  if (launched.ok()) {
    ROOFTILE_TRY_ASSIGN(run.wrong, judge_outputs(problem, run.max_error));
  }
  ROOFTILE_TRY(problem.restore());
  return run;
}

AccessSummary summarize(const simt::checked::Report& report) {
  using simt::checked::AccessCounts;
  using simt::checked::AccessKind;
  using simt::checked::MemorySpace;
  const AccessCounts loads = report.total(MemorySpace::global, AccessKind::load);
  const AccessCounts stores = report.total(MemorySpace::global, AccessKind::store);
  AccessCounts shared = report.total(MemorySpace::shared, AccessKind::load);
  shared.add(report.total(MemorySpace::shared, AccessKind::store));
  AccessSummary summary;
  summary.load_sectors = loads.sectors_per_request();
  summary.ideal_load_sectors = loads.ideal_sectors_per_request();
  summary.store_sectors = stores.sectors_per_request();
  summary.ideal_store_sectors = stores.ideal_sectors_per_request();
  summary.conflict_degree = shared.conflict_degree();
  summary.worst_conflict = shared.worst_conflict;
  summary.constant_words = report.total(MemorySpace::constant, AccessKind::load).conflict_degree();
  summary.lanes = report.total().lanes_per_request();
  summary.block_lanes = lanes_per_basic_block(report).value_or(0.0);
  summary.bytes_moved = report.bytes_moved();
  for (const simt::checked::LineSyncs& sync : report.syncs) {
    if (sync.name == "__syncthreads") summary.barriers += sync.count;
    if (sync.name == "shuffle") summary.shuffles += sync.count;
  }
  return summary;
}

Result<Simulation> simulate(const Registry& registry, const OperatorDescriptor& op, const std::string& rung,
                            const SimulationOptions& options) {
  const OperatorCases* cases = registry.cases(op.name);
  if (cases == nullptr) return internal_error("no cases are registered").with_operator(op.name);
  ROOFTILE_TRY(check_rung_names(op, {}, {rung}));
  ROOFTILE_TRY_ASSIGN(const Case wanted, make_case(op, *cases, options.request, DeviceKind::sim));
  std::string unsupported_because;
  const OperatorDescriptor trusted = with_all_rungs_trusted(op);
  for (const Case& c : simulated_cases(*cases, wanted, options.request)) {
    ROOFTILE_TRY_ASSIGN(HostProblem host, HostProblem::create(op, *cases, c));
    ROOFTILE_TRY_ASSIGN(DeviceProblem problem, DeviceProblem::create(host, kSim));
    if (options.multiprocessors > 0) problem.set_multiprocessors(options.multiprocessors);
    const std::vector<Candidate> found =
        candidates(trusted, {}, {rung}, problem.args(), problem.properties());
    if (found.empty()) {
      return invalid_argument(
                 fmt::format("{} runs on the CPU alone: the simulated SM runs GPU kernels", rung))
          .with_operator(op.name);
    }
    if (found.front().unsupported.empty()) return simulate_case(op, found.front(), problem, wanted, options);
    if (unsupported_because.empty()) unsupported_because = found.front().unsupported;
  }
  if (unsupported_because.empty()) {
    return unsupported(fmt::format("no small case is like {}: give a --shape", case_id(wanted)))
        .with_operator(op.name);
  }
  return unsupported(fmt::format("{}: {}", rung, unsupported_because)).with_operator(op.name);
}

}  // namespace rooftile::lab
