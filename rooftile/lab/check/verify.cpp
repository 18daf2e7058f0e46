#include "rooftile/lab/check/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "rooftile/cases/elements.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/sim/config.h"

namespace rooftile::lab {
namespace {

// NaN in every float dtype, -1 or the largest value in integers; then finite rubbish.
constexpr std::array<int, 2> kPoison = {0xFF, 0x5A};

// What went wrong in a check: not an error of the lab.
struct Finding {
  std::string text;
};

// Empty text: nothing wrong. An error Status: the device or the lab failed, which fails the check as well.
using Findings = Result<Finding>;

Findings check_guards(const DeviceProblem& problem, const Scratch& scratch) {
  const auto check = [&](const GuardedBuffer& buffer, const std::string& name) -> Findings {
    ROOFTILE_TRY_ASSIGN(const std::string broken, buffer.broken_guard(problem.stream()));
    if (broken.empty()) return Finding{};
    return Finding{fmt::format("wrote outside of {}: {}", name, broken)};
  };
  for (const DeviceTensor& tensor : problem.tensors()) {
    ROOFTILE_TRY_ASSIGN(Finding found, check(tensor.buffer, tensor.slot->name));
    if (!found.text.empty()) return found;
  }
  ROOFTILE_TRY_ASSIGN(Finding found, check(scratch.any, "the workspace"));
  if (!found.text.empty()) return found;
  return check(scratch.zeroed, "the zeroed workspace");
}

Findings check_zeroed(const DeviceProblem& problem, const Scratch& scratch) {
  ROOFTILE_TRY_ASSIGN(const std::size_t at,
                      first_nonzero(problem.stream(), scratch.zeroed.data(), scratch.zeroed.bytes()));
  if (at == scratch.zeroed.bytes()) return Finding{};
  return Finding{fmt::format("the zeroed workspace is not zero at exit: byte {}", at)};
}

Findings check_error_word(const DeviceProblem& problem, const Scratch& scratch) {
  std::uint32_t error = 0;
  ROOFTILE_TRY(copy(problem.stream(), &error, kCpu, scratch.error_word.data(), problem.stream().device,
                    sizeof(error)));
  ROOFTILE_TRY(synchronize(problem.stream()));
  const std::uint32_t wanted = problem.host().plan().error_word;
  if (error == wanted) return Finding{};
  if (wanted == 0) return Finding{fmt::format("the kernel reported error {}", error)};
  return Finding{fmt::format("the kernel reported error {}, the case has it report {}", error, wanted)};
}

Status poison_and_launch(const Candidate& candidate, const LaunchFn& launch, DeviceProblem& problem,
                         const Scratch& scratch, int poison) {
  ROOFTILE_TRY(problem.prepare(poison));
  ROOFTILE_TRY(scratch.any.poison(problem.stream(), poison));
  ROOFTILE_TRY(scratch.error_word.poison(problem.stream(), 0));
  // As the library does it: a call that writes no element launches nothing.
  if (!writes_nothing(problem.host().op(), problem.args())) {
    ROOFTILE_TRY(launch(problem.call(candidate.plan, scratch.workspace())));
  }
  return synchronize(problem.stream());
}

// Whether the results of two runs are the same, bit for bit. `differs`: the first output where they are not.
bool same_bits(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b,
               const std::vector<std::int64_t>& results, std::size_t& differs) {
  for (differs = 0; differs < a.size(); ++differs) {
    std::size_t bytes = a[differs].bytes();
    if (differs < results.size())
      bytes = static_cast<std::size_t>(results[differs]) * size_of(a[differs].dtype());
    if (bytes > 0 && std::memcmp(a[differs].data(), b[differs].data(), bytes) != 0) return false;
  }
  return true;
}

std::string written_slot(const OperatorDescriptor& op, std::size_t i) {
  for (const TensorSlot& slot : op.slots) {
    if (is_written(slot) && i-- == 0) return slot.name;
  }
  return "";
}

// The first element that nobody wrote: it holds the poison of either run. Empty where there is none. A judge that looks at
// a sample would not see it.
std::string unwritten(const OperatorDescriptor& op,
                      const std::array<std::vector<HostTensor>, kPoison.size()>& outputs,
                      const std::vector<std::int64_t>& results) {
  const auto is_poison = [](const HostTensor& tensor, std::int64_t i, int poison) {
    const std::size_t size = size_of(tensor.dtype());
    const auto* bytes = static_cast<const std::byte*>(tensor.data()) + static_cast<std::size_t>(i) * size;
    return std::all_of(bytes, bytes + size,
                       [poison](std::byte b) { return b == static_cast<std::byte>(poison); });
  };
  for (std::size_t output = 0; output < outputs[0].size(); ++output) {
    const std::int64_t count = output < results.size() ? results[output] : outputs[0][output].numel();
    for (std::int64_t i = 0; i < count; ++i) {
      if (is_poison(outputs[0][output], i, kPoison[0]) && is_poison(outputs[1][output], i, kPoison[1]))
        return fmt::format("{} element {} was not written", written_slot(op, output), i);
    }
  }
  return "";
}

// Of the results' bits: to see that they are those of another run.
std::vector<std::uint64_t> digests_of(const std::vector<HostTensor>& outputs,
                                      const std::vector<std::int64_t>& results) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15u;
  std::vector<std::uint64_t> digests;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::size_t bytes = outputs[i].bytes();
    if (i < results.size()) bytes = static_cast<std::size_t>(results[i]) * size_of(outputs[i].dtype());
    const auto* data = static_cast<const std::byte*>(outputs[i].data());
    // Four chains, so that the multiplications overlap.
    std::array<std::uint64_t, 4> chains = {bytes, 1, 2, 3};
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, data + at, std::min(sizeof(word), bytes - at));
      std::uint64_t& chain = chains[at / sizeof(word) % chains.size()];
      chain = (chain ^ word) * kPrime;
      chain ^= chain >> 29;
    }
    std::uint64_t digest = 0;
    for (const std::uint64_t chain : chains) digest = (digest ^ chain) * kPrime + 1;
    digests.push_back(digest);
  }
  return digests;
}

// What one launch left, apart from the outputs themselves. Inputs are looked at after the last launch: what an earlier
// one did to them is still there.
Findings check_traces(DeviceProblem& problem, const Scratch& scratch, bool is_last) {
  ROOFTILE_TRY_ASSIGN(Finding guards, check_guards(problem, scratch));
  if (!guards.text.empty()) return guards;
  ROOFTILE_TRY_ASSIGN(Finding zeroed, check_zeroed(problem, scratch));
  if (!zeroed.text.empty()) return zeroed;
  ROOFTILE_TRY_ASSIGN(Finding reported, check_error_word(problem, scratch));
  if (!reported.text.empty() || !is_last) return reported;
  ROOFTILE_TRY_ASSIGN(std::string modified, problem.changed_input());
  return Finding{std::move(modified)};
}

// Every element against a peer's. Empty, or the first that is too far from it.
std::string far_from_peer(const OperatorDescriptor& op, const std::vector<HostTensor>& outputs,
                          const Judgement& judgement, const PeerOutputs& peer) {
  constexpr std::int64_t kGrain = 1 << 16;
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    const HostTensor& ours = outputs[output];
    const HostTensor& theirs = (*peer.outputs)[output];
    const Allowed allowed = output < judgement.allowed.size() ? judgement.allowed[output] : Allowed{};
    const bool exact = !is_float(ours.dtype()) || allowed.error == 0;
    // Elements larger than the sample's largest may be off by as much more.
    const auto within = [&allowed](double value) {
      const double scale = allowed.largest > 0 ? std::max(1.0, std::abs(value) / allowed.largest) : 1.0;
      return 2 * allowed.error * scale;
    };
    const std::int64_t count = output < judgement.results.size() ? judgement.results[output] : ours.numel();
    std::atomic<std::int64_t> first = count;
    in_parallel(count, kGrain, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to && i < first; ++i) {
        if (element_bits(ours, i) == element_bits(theirs, i)) continue;
        const double a = ours.at(i);
        const double b = theirs.at(i);
        if (std::isnan(a) && std::isnan(b)) continue;
        if (!exact && (a == b || std::abs(a - b) <= within(b))) continue;
        std::int64_t earlier = first;
        while (i < earlier && !first.compare_exchange_weak(earlier, i)) {
        }
      }
    });
    if (const std::int64_t at = first; at < count) {
      return fmt::format("{} element {}: {:.9g}, where {} has {:.9g} and {:.3g} is allowed between them",
                         written_slot(op, output), at, ours.at(at), peer.peer, theirs.at(at),
                         exact ? 0.0 : within(theirs.at(at)));
    }
  }
  return "";
}

// The two runs of a check, judged. `forgives`: a peer may compute where ours move, it is not asked for the bits of a NaN.
Findings judge_runs(HostProblem& host, const PoisonedRun& run_once, Determinism determinism, bool forgives,
                    const PeerOutputs* peer, CheckResult& result) {
  result.forgives = forgives;
  std::array<std::vector<HostTensor>, kPoison.size()> outputs;
  std::vector<std::int64_t> results;  // of the first run
  for (std::size_t run = 0; run < kPoison.size(); ++run) {
    std::string found;
    ROOFTILE_TRY_ASSIGN(outputs[run], run_once(kPoison[run], found));
    if (!found.empty()) return Finding{std::move(found)};
    // The same bits once more are as right as they were.
    std::size_t differs = 0;
    if (run > 0 && same_bits(outputs[0], outputs[run], results, differs)) continue;
    ROOFTILE_TRY_ASSIGN(const Judgement judgement, host.judge(outputs[run]));
    result.max_error = std::max(result.max_error, judgement.max_error);
    result.sampled = judgement.sampled;
    if (run == 0) {
      results = judgement.results;
      result.digests = digests_of(outputs[0], results);
      result.results = results;
    }
    const bool forgiven = judgement.nan_bits_alone && forgives;
    if (!judgement.mismatch.empty() && !forgiven) return Finding{judgement.mismatch};
    if (!judgement.sampled.empty() && peer != nullptr) {
      result.sampled += fmt::format(", and all of them against {}", peer->peer);
      std::string far = far_from_peer(host.op(), outputs[run], judgement, *peer);
      if (!far.empty()) return Finding{std::move(far)};
    }
    if (std::string missing = run > 0 ? unwritten(host.op(), outputs, results) : ""; !missing.empty())
      return Finding{std::move(missing)};
    if (run > 0 && determinism == Determinism::run_to_run) {
      return Finding{fmt::format("{} differs between two runs, but the rung promises run-to-run determinism",
                                 written_slot(host.op(), differs))};
    }
  }
  if (!result.sampled.empty() && forgives)
    result.outputs = std::make_shared<const std::vector<HostTensor>>(std::move(outputs[0]));
  return Finding{};
}

Findings run_check(const Candidate& candidate, DeviceProblem& problem, const PeerOutputs* peer,
                   CheckResult& result) {
  ROOFTILE_TRY_ASSIGN(const Scratch scratch, problem.make_scratch(candidate.plan.workspace));
  LaunchFn launch;  // of a call that writes nothing none
  if (!writes_nothing(problem.host().op(), problem.args())) {
    ROOFTILE_TRY_ASSIGN(launch,
                        prepared_launch(candidate, problem.call(candidate.plan, scratch.workspace())));
  }
  const auto run = [&](int poison, std::string& found) -> Result<std::vector<HostTensor>> {
    ROOFTILE_TRY(poison_and_launch(candidate, launch, problem, scratch, poison));
    ROOFTILE_TRY_ASSIGN(Finding trace, check_traces(problem, scratch, poison == kPoison.back()));
    found = std::move(trace.text);
    if (!found.empty()) return std::vector<HostTensor>();
    return problem.download_written(poison, found);
  };
  return judge_runs(problem.host(), run, candidate.determinism, candidate.kind == CandidateKind::peer, peer,
                    result);
}

CheckResult named_result(std::string_view candidate, const DeviceProblem& problem) {
  const OperatorDescriptor& op = problem.host().op();
  const Case& c = problem.host().the_case();
  CheckResult result;
  result.id = fmt::format("{}/{}[{}]", op.name, candidate, case_id(c));
  result.device = to_string(problem.properties().device);
  result.repro = repro_command(op, candidate, c, problem.properties().device);
  return result;
}

void set_status(CheckResult& result, const Findings& findings) {
  if (findings.ok()) {
    result.status = findings->text.empty() ? CheckStatus::passed : CheckStatus::failed;
    result.reason = findings->text;
    return;
  }
  // Too little memory says nothing about the candidate; every other error does.
  const bool skip = findings.status().code() == StatusCode::out_of_memory;
  result.status = skip ? CheckStatus::skipped : CheckStatus::failed;
  result.reason = findings.status().sentence();
}

// The digests of the check, or else right once more.
Status judge_again(const CheckResult& check, HostProblem& host, const std::vector<HostTensor>& outputs,
                   const std::string& outside) {
  if (outside.empty() && digests_of(outputs, check.results) == check.digests) return {};
  ROOFTILE_TRY_ASSIGN(const Judgement judgement, host.judge(outputs));
  const std::string wrong = outside.empty() ? judgement.mismatch : outside;
  if (wrong.empty() || (outside.empty() && judgement.nan_bits_alone && check.forgives)) return {};
  return Status::error(StatusCode::check_failed, "right before it was timed and wrong after it: " + wrong);
}

bool has_params(const Case& c, const std::vector<std::pair<std::string, std::string>>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& arg) {
    return std::any_of(c.params.values().begin(), c.params.values().end(), [&](const auto& value) {
      return value.first == arg.first && rooftile::to_string(value.second) == arg.second;
    });
  });
}

std::vector<Case> selected_cases(const OperatorCases& cases, const VerifyOptions& options, DeviceKind kind) {
  if (options.single) return {*options.single};
  const CaseTier largest = std::min(options.largest, largest_tier(kind));
  std::vector<Case> selected;
  int matches = 0;
  for (Case& c : cases.cases()) {
    if (c.tier > largest || (options.dtype && c.dtype != *options.dtype) || !has_params(c, options.args))
      continue;
    if (matches++ % options.every == 0) selected.push_back(std::move(c));
  }
  return selected;
}

// The part of a repro line that chooses the simulated SM's lane order where it is not the usual one.
std::string sim_order_option() {
  const Result<simt::ExecutorConfig> config = simt::executor_config();
  if (!config.ok() || config->order == simt::LaneOrder::forward) return "";
  if (config->order == simt::LaneOrder::reversed) return " --sim-order reversed";
  return fmt::format(" --sim-order random:{}", config->seed);
}

class Verifier {
 public:
  Verifier(const Registry& registry, const VerifyOptions& options) : registry_(registry), options_(options) {}

  Status run_operator(const OperatorDescriptor& op, const OperatorCases& cases) {
    for (const Device device : options_.devices) {
      if (!has_candidates(op, registry_.peers(op.name), options_.rungs, device.kind)) continue;
      for (const Case& c : selected_cases(cases, options_, device.kind))
        ROOFTILE_TRY(run_case(op, cases, c, device));
    }
    return {};
  }

  VerifyReport take() { return std::move(report_); }

 private:
  // One case on one device. A problem that cannot be set up is the call's error where the caller named the
  // case, a skip where memory is short, and a failure otherwise: the list holds only cases that work.
  Status run_case(const OperatorDescriptor& op, const OperatorCases& cases, const Case& c, Device device) {
    Result<HostProblem> host = HostProblem::create(op, cases, c);
    if (!host.ok()) return setup_failed(op, c, device, host.status());
    Result<DeviceProblem> problem = DeviceProblem::create(*host, device);
    if (!problem.ok()) return setup_failed(op, c, device, problem.status());
    const std::vector<Candidate> all =
        candidates(op, registry_.peers(op.name), options_.rungs, problem->args(), problem->properties());
    std::optional<PeerOutputs> peer;
    for (const std::size_t i : checking_order(all)) {
      const Candidate& candidate = all[i];
      if (candidate.unsupported.empty()) {
        report_.candidates.emplace(op.name, candidate.id);
        CheckResult check = check_candidate(candidate, *problem, peer ? &*peer : nullptr);
        keep_peer(check, candidate, peer);
        const bool spoiled = check.spoiled;
        add(std::move(check));
        if (spoiled) return {};
      } else {
        add(result_for(op, candidate.id, c, device,
                       candidate.lost ? CheckStatus::failed : CheckStatus::skipped, candidate.unsupported));
      }
    }
    return {};
  }

  Status setup_failed(const OperatorDescriptor& op, const Case& c, Device device, const Status& status) {
    if (options_.single) return status;
    const bool skip = status.code() == StatusCode::out_of_memory;
    add(result_for(op, "*", c, device, skip ? CheckStatus::skipped : CheckStatus::failed, status.sentence()));
    return {};
  }

  static CheckResult result_for(const OperatorDescriptor& op, const std::string& candidate, const Case& c,
                                Device device, CheckStatus status, std::string reason) {
    CheckResult result;
    result.id = fmt::format("{}/{}[{}]", op.name, candidate, case_id(c));
    result.device = to_string(device);
    result.status = status;
    result.reason = std::move(reason);
    result.repro = repro_command(op, candidate == "*" ? "" : candidate, c, device);
    return result;
  }

  void add(CheckResult result) {
    ++report_.cases;
    if (options_.on_check) options_.on_check(result, report_.cases);
    if (result.judging_s > kSlowJudging) report_.slow.push_back(result);
    switch (result.status) {
      case CheckStatus::passed:
        ++report_.passed;
        report_.sampled += result.sampled.empty() ? 0 : 1;
        break;
      case CheckStatus::failed:
        ++report_.failed;
        report_.failures.push_back(std::move(result));
        break;
      case CheckStatus::skipped:
        report_.skipped.push_back(std::move(result));
        break;
    }
  }

  const Registry& registry_;
  const VerifyOptions& options_;
  VerifyReport report_;
};

}  // namespace

std::string_view to_string(CheckStatus status) {
  switch (status) {
    case CheckStatus::passed:
      return "passed";
    case CheckStatus::failed:
      return "failed";
    case CheckStatus::skipped:
      return "skipped";
  }
  return "failed";
}

CaseTier largest_tier(DeviceKind kind) {
  if (kind == DeviceKind::cuda) return CaseTier::huge;
  return kind == DeviceKind::cpu ? CaseTier::full : CaseTier::quick;
}

std::string repro_command(const OperatorDescriptor& op, std::string_view candidate, const Case& c,
                          Device device) {
  std::string command = "rooftile verify " + op.name;
  if (!candidate.empty()) command += fmt::format(" --rung {}", candidate);
  command += fmt::format(" --device {} --shape {} --dtype {}", to_string(device),
                         rooftile::to_string(c.shape), to_string(c.dtype));
  for (const auto& [name, value] : c.params.values())
    command += fmt::format(" --arg {}={}", name, rooftile::to_string(value));
  command += fmt::format(" --fill {} --offset {} --seed {}", to_string(c.fill), c.offset, c.seed);
  if (c.in_place) command += " --in-place";
  if (device.kind == DeviceKind::sim) command += sim_order_option();
  return command;
}

std::vector<std::size_t> checking_order(const std::vector<Candidate>& candidates) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return candidates[i].kind == CandidateKind::peer; });
  return order;
}

void keep_peer(CheckResult& check, const Candidate& candidate, std::optional<PeerOutputs>& peer) {
  if (!peer && check.status == CheckStatus::passed && check.outputs != nullptr)
    peer = PeerOutputs{candidate.id, std::move(check.outputs)};
  check.outputs.reset();
}

CheckResult check_candidate(const Candidate& candidate, DeviceProblem& problem, const PeerOutputs* peer) {
  CheckResult result = named_result(candidate.id, problem);
  const double judged_before = problem.host().judging_s();
  const Findings findings = run_check(candidate, problem, peer, result);
  result.judging_s = problem.host().judging_s() - judged_before;
  Status restored;
  if (!findings.ok() || !findings->text.empty()) restored = problem.restore();
  set_status(result, findings);
  // Whoever comes next cannot be judged on spoiled inputs: it would be blamed for this one's damage.
  if (!restored.ok()) {
    result.reason += "; and the inputs could not be restored: " + restored.sentence();
    result.spoiled = true;
  }
  return result;
}

CheckResult check_peer_runs(std::string_view peer, DeviceProblem& problem, const PoisonedRun& run) {
  CheckResult result = named_result(peer, problem);
  const double judged_before = problem.host().judging_s();
  set_status(result, judge_runs(problem.host(), run, Determinism::not_guaranteed, true, nullptr, result));
  result.judging_s = problem.host().judging_s() - judged_before;
  return result;
}

Status check_again(const CheckResult& check, DeviceProblem& problem, const Scratch& scratch,
                   const std::function<Status()>& run) {
  ROOFTILE_TRY(problem.prepare(kPoison[0]));
  ROOFTILE_TRY(scratch.any.poison(problem.stream(), kPoison[0]));
  ROOFTILE_TRY(run());
  std::string outside;
  ROOFTILE_TRY_ASSIGN(const std::vector<HostTensor> outputs, problem.download_written(kPoison[0], outside));
  return judge_again(check, problem.host(), outputs, outside);
}

Status check_peer_again(const CheckResult& check, HostProblem& host, const PoisonedRun& run) {
  std::string outside;
  ROOFTILE_TRY_ASSIGN(const std::vector<HostTensor> outputs, run(kPoison[0], outside));
  return judge_again(check, host, outputs, outside);
}

Result<VerifyReport> verify(const Registry& registry, const VerifyOptions& options) {
  if (!options.sim_order.empty()) {
    ROOFTILE_TRY_ASSIGN(simt::ExecutorConfig config, simt::executor_config());
    ROOFTILE_TRY(simt::parse_lane_order(options.sim_order, config));
    ROOFTILE_TRY(simt::set_executor_config(config));
  }
  std::vector<const OperatorDescriptor*> operators;
  if (options.operators.empty()) operators = registry.operators();
  for (const std::string& name : options.operators) {
    ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, registry.get(name));
    operators.push_back(op);
  }
  Verifier verifier(registry, options);
  for (const OperatorDescriptor* op : operators) {
    const OperatorCases* cases = registry.cases(op->name);
    if (cases == nullptr) return internal_error("no cases are registered").with_operator(op->name);
    if (options.operators.size() == 1)
      ROOFTILE_TRY(check_rung_names(*op, registry.peers(op->name), options.rungs));
    ROOFTILE_TRY(verifier.run_operator(*op, *cases));
  }
  VerifyReport report = verifier.take();
  report.devices = options.devices;
  return report;
}

}  // namespace rooftile::lab
