#include "rooftile/lab/ladder/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rooftile/lab/case/candidate.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/check/verify.h"
#include "rooftile/lab/ladder/ladder_timing.h"
#include "rooftile/lab/ladder/process_rows.h"
#include "rooftile/lab/simulate/simulation.h"

namespace rooftile::lab {
namespace {

void step(const LadderOptions& options, std::string_view text) {
  if (options.on_step) options.on_step(text);
}

std::string device_names(const std::vector<Device>& devices) {
  std::vector<std::string> names;
  for (const Device device : devices) names.push_back(to_string(device));
  return fmt::format("{}", fmt::join(names, ", "));
}

LadderRow make_row(const Candidate& candidate, const std::string& chosen) {
  LadderRow row;
  row.rung = candidate.id;
  row.kind = to_string(candidate.kind);
  row.idea = candidate.idea;
  row.chosen = candidate.kind != CandidateKind::peer && candidate.id == chosen;
  if (!candidate.unsupported.empty()) {
    row.status = candidate.lost    ? RowStatus::failed
                 : candidate.built ? RowStatus::skipped
                                   : RowStatus::not_built;
    row.reason = candidate.unsupported;
  }
  return row;
}

void verify_entry(LadderEntry& entry, DeviceProblem& problem, std::optional<PeerOutputs>& peer) {
  LadderRow& row = entry.row;
  if (row.status != RowStatus::ok) return;
  CheckResult& check = entry.check = entry.process != nullptr
                                         ? check_process_entry(entry, problem)
                                         : check_candidate(entry.candidate, problem, peer ? &*peer : nullptr);
  keep_peer(check, entry.candidate, peer);
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

// On sim: once more, access by access.
void watch_entry(LadderEntry& entry, DeviceProblem& problem) {
  LadderRow& row = entry.row;
  if (!row.verified || !entry.candidate.checked) return;
  const Result<WatchedRun> run = watch_candidate(entry.candidate, problem, {.metrics = true});
  if (!run.ok()) {
    row.reason = run.status().sentence();
    return;
  }
  row.accesses = summarize(run->report);
  if (run->report.findings.empty() && run->wrong.empty()) return;
  row.status = RowStatus::failed;
  row.verified = false;
  row.simulated = false;
  row.reason = run->wrong;
  if (!run->report.findings.empty()) {
    const simt::checked::Finding& first = run->report.findings.front();
    row.reason = fmt::format("{} at {}: {}", to_string(first.kind), to_string(first.at), first.what);
  }
}

std::vector<std::string> inputs_in_words(const HostProblem& host) {
  std::vector<std::string> inputs;
  std::size_t next = 0;
  for (const TensorSlot& slot : host.op().slots) {
    if (!is_read(slot)) continue;
    const InputPlan& input = host.plan().inputs[next++];
    const std::string drawn = input.absent               ? "absent"
                              : !input.draw.name.empty() ? input.draw.name
                                                         : std::string(to_string(host.the_case().fill));
    inputs.push_back(fmt::format("{}: {}", slot.name, drawn));
  }
  return inputs;
}

// The rows of one mode, from those that all modes share.
Result<LadderResult> climb_in_mode(const std::vector<LadderEntry>& verified, DeviceProblem& problem,
                                   TimeMode mode, const LadderOptions& options, LadderResult result) {
  result.mode = mode;
  std::vector<LadderEntry> entries;
  for (const LadderEntry& entry : verified) {
    entries.push_back({.row = entry.row,
                       .candidate = entry.candidate,
                       .check = entry.check,
                       .scratch = {},
                       .process = entry.process});
  }
  ROOFTILE_TRY(time_entries(entries, problem, options, result));
  for (LadderEntry& entry : entries) result.rows.push_back(std::move(entry.row));
  return result;
}

// One result for each mode; on sim one.
Result<std::vector<LadderResult>> climb(const Registry& registry, const OperatorDescriptor& op,
                                        const OperatorCases& cases, const Case& c, Device device,
                                        const LadderOptions& options) {
  // Before anything is measured: one mode that this device does not have would cost the others' results.
  for (const TimeMode mode : options.modes) {
    if (device.kind != DeviceKind::sim) ROOFTILE_TRY(check_mode(mode, device));
  }
  ROOFTILE_TRY_ASSIGN(HostProblem host, HostProblem::create(op, cases, c));
  LadderResult result;
  result.device = device;
  result.the_case = c;
  result.read_bytes = host.plan().read_bytes;
  result.write_bytes = host.plan().write_bytes;
  result.flops = host.plan().flops;
  result.flops_on = host.plan().flops_on;
  result.inputs = inputs_in_words(host);
  step(options, fmt::format("{} on {}: inputs of {}", op.name, to_string(device), case_id(c)));
  ROOFTILE_TRY_ASSIGN(DeviceProblem problem, DeviceProblem::create(host, device));
  const std::string chosen(op.choose ? op.choose(problem.args(), problem.properties()) : "");

  std::vector<LadderEntry> entries;
  std::vector<Candidate> all =
      candidates(op, registry.peers(op.name), options.rungs, problem.args(), problem.properties());
  std::vector<std::size_t> order = checking_order(all);
  for (Candidate& candidate : all) {
    LadderEntry entry;
    entry.row = make_row(candidate, chosen);
    entry.candidate = std::move(candidate);
    entries.push_back(std::move(entry));
  }
  std::optional<PeerProcess> torch;
  if (options.torch && device.kind != DeviceKind::sim) {
    step(options, fmt::format("{} on {}: starting torch", op.name, to_string(device)));
    const std::size_t ours = entries.size();
    torch = add_process_entries(*options.torch, problem, entries);
    for (std::size_t i = ours; i < entries.size(); ++i) {
      if (torch) entries[i].process = &*torch;
      order.insert(order.begin(), i);  // peers first
    }
  }
  std::string sampled;
  bool spoiled = false;
  std::optional<PeerOutputs> peer;
  for (const std::size_t i : order) {
    LadderEntry& entry = entries[i];
    step(options, fmt::format("{} on {}: verifying {}", op.name, to_string(device), entry.row.rung));
    if (spoiled) {
      entry.row.status = RowStatus::skipped;
      entry.row.reason = "not judged: the rung before it left inputs that could not be restored";
      continue;
    }
    verify_entry(entry, problem, peer);
    spoiled = entry.check.spoiled;
    if (!entry.check.sampled.empty()) sampled = entry.check.sampled;
    if (device.kind == DeviceKind::sim) watch_entry(entry, problem);
  }
  if (!sampled.empty()) result.notes.push_back(fmt::format("verified by a sample: {}", sampled));
  result.judging_s = host.judging_s();

  std::vector<LadderResult> results;
  if (device.kind == DeviceKind::sim) {
    for (LadderEntry& entry : entries) result.rows.push_back(std::move(entry.row));
    results.push_back(std::move(result));
    return results;
  }
  for (const TimeMode mode : options.modes) {
    step(options, fmt::format("{} on {}: measuring, {}", op.name, to_string(device), to_string(mode)));
    ROOFTILE_TRY_ASSIGN(LadderResult timed, climb_in_mode(entries, problem, mode, options, result));
    results.push_back(std::move(timed));
  }
  return results;
}

Result<std::vector<LadderResult>> climb_simulated(const Registry& registry, const OperatorDescriptor& op,
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
  ROOFTILE_TRY_ASSIGN(std::vector<LadderResult> results, climb(registry, op, cases, *c, kSim, options));
  LadderResult& result = results.front();
  result.notes.push_back(
      "simulated: the GPU kernel sources, executed and verified by the simulated SM; no time");
  if (options.torch) result.notes.push_back("no rows of torch: it does not run on the simulated SM");
  if (rooftile::to_string(c->shape) != rooftile::to_string(wanted.shape)) {
    result.notes.push_back(
        fmt::format("{} in place of {}: the simulated SM executes every thread of the grid",
                    rooftile::to_string(c->shape), rooftile::to_string(wanted.shape)));
  }
  return results;
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
  for (const Device device : devices) {
    if (!has_candidates(op, registry.peers(op.name), options.rungs, device.kind)) continue;
    ROOFTILE_TRY_ASSIGN(const Case c, make_case(op, *cases, options.request, device.kind));
    Result<std::vector<LadderResult>> results = device.kind == DeviceKind::sim
                                                    ? climb_simulated(registry, op, *cases, c, options)
                                                    : climb(registry, op, *cases, c, device, options);
    if (!results.ok()) return results.status();
    for (LadderResult& result : *results) report.results.push_back(std::move(result));
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
