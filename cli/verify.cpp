#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/check/verify.h"
#include "rooftile/lab/ladder/json_report.h"

namespace rooftile::cli {
namespace {

struct VerifyCommand {
  std::string op;
  CaseOptions the_case;
  std::vector<std::string> rungs;
  std::string device;
  std::string tier;
  int every = 1;
  std::string sim_order;
  std::string json;
};

Result<CaseTier> parse_tier(const std::string& text) {
  if (text == "quick") return CaseTier::quick;
  if (text == "full") return CaseTier::full;
  if (text == "huge") return CaseTier::huge;
  return invalid_argument(fmt::format("--tier '{}' is unknown: choose quick, full or huge", text));
}

// A --shape names one case; --dtype and --arg alone choose from the operator's list.
Status select_cases(const Session& session, const VerifyCommand& call, lab::VerifyOptions& options) {
  ROOFTILE_TRY_ASSIGN(const lab::CaseRequest request, parse_case_options(call.the_case));
  options.dtype = request.dtype;
  options.args = request.args;
  if (request.shape.empty() && (request.fill || request.offset || request.seed || request.in_place)) {
    return invalid_argument("--fill, --offset, --seed and --in-place name one case: give its --shape too");
  }
  if (call.op.empty()) {
    if (!request.shape.empty() || !request.args.empty() || !call.rungs.empty()) {
      return invalid_argument(
          "--shape, --arg and --rung belong to one operator: name it, as in `verify reduce`");
    }
    return {};
  }
  ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, session.registry.get(call.op));
  options.operators = {op->name};
  options.rungs = parse_rungs(call.rungs, op->name);
  const OperatorCases* cases = session.registry.cases(op->name);
  if (cases == nullptr) return internal_error("no cases are registered").with_operator(op->name);
  // Also where only the list is filtered: a parameter that does not exist would select nothing, silently.
  ROOFTILE_TRY_ASSIGN(const Case c, lab::make_case(*op, *cases, request, options.devices.front().kind));
  if (!request.shape.empty()) options.single = c;
  return {};
}

Result<lab::VerifyReport> check(Session& session, const VerifyCommand& call) {
  lab::VerifyOptions options;
  if (call.device.empty()) {
    options.devices =
        cuda_availability().ok() ? std::vector<Device>{default_device()} : std::vector<Device>{kCpu, kSim};
  } else {
    ROOFTILE_TRY_ASSIGN(const Device device, usable_device(call.device));
    options.devices = {device};
  }
  session.peers();
  ROOFTILE_TRY(select_cases(session, call, options));
  if (!call.tier.empty()) {
    ROOFTILE_TRY_ASSIGN(options.largest, parse_tier(call.tier));
  }
  options.every = call.every;
  options.sim_order = call.sim_order;
  lab::Progress progress;
  options.on_check = [&progress](const lab::CheckResult& result, int done) {
    progress.show(fmt::format("{} checks: {} on {}", done, result.id, result.device));
  };
  return lab::verify(session.registry, options);
}

void print_report(const lab::VerifyReport& checks) {
  const bool colour = lab::stdout_has_colour();
  for (const lab::CheckResult& failure : checks.failures) {
    fmt::print("{} {} on {}: {}\n  again: {}\n", lab::paint("FAILED", lab::Colour::red, colour), failure.id,
               failure.device, failure.reason, failure.repro);
  }
  std::vector<std::pair<std::string, int>> reasons;
  for (const lab::CheckResult& skip : checks.skipped) {
    const auto same = [&skip](const auto& known) { return known.first == skip.reason; };
    const auto at = std::find_if(reasons.begin(), reasons.end(), same);
    if (at == reasons.end())
      reasons.emplace_back(skip.reason, 1);
    else
      ++at->second;
  }
  for (const lab::CheckResult& slow : checks.slow)
    fmt::print("judging {} took {:.1f} s of the host\n", slow.id, slow.judging_s);
  if (checks.sampled > 0) fmt::print("{} checks looked at a sample of the elements\n", checks.sampled);
  for (const auto& [reason, count] : reasons) fmt::print("skipped {}: {}\n", count, reason);
  std::vector<std::string> devices;
  for (const Device device : checks.devices) devices.push_back(to_string(device));
  fmt::print("{} checks on {}: {} passed, {} failed, {} skipped\n", checks.cases, fmt::join(devices, " and "),
             checks.passed, checks.failed, checks.skipped.size());
}

int run(Session& session, const VerifyCommand& call) {
  const Result<lab::VerifyReport> checks = check(session, call);
  if (!checks.ok()) return report(checks.status());
  if (checks->cases == 0) {
    return report(kWrongCall,
                  "no check matches this call: cpu rungs run on cpu, the others on cuda and sim; "
                  "`rooftile show OP` lists dtypes and parameters");
  }
  if (call.json != "-") print_report(*checks);
  if (!call.json.empty()) {
    const Status status = write_text(call.json, lab::verify_json(*checks, session.command_line));
    if (!status.ok()) return report(status);
  }
  if (checks->failed > 0)
    return report(kCheckFailed, fmt::format("{} of {} checks failed", checks->failed, checks->cases));
  if (checks->passed == 0) return report(kNotPossible, "every check was skipped: nothing is proved");
  return kDone;
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("verify", "all cases of all rungs against the reference");
  auto call = std::make_shared<VerifyCommand>();
  command->add_option("OP", call->op, "an operator of `rooftile list`; default: all");
  add_case_options(*command, call->the_case);
  command->add_option("--rung,--rungs", call->rungs, "only these, divided by commas")
      ->allow_extra_args(false)
      ->type_name("RUNG,...");
  command->add_option("--device", call->device, "cuda:N, cpu or sim; default: the GPU, or cpu and sim")
      ->type_name("DEVICE");
  command->add_option("--tier", call->tier, "the largest cases to run: quick, full or huge")
      ->type_name("TIER");
  command->add_option("--every", call->every, "only every so many-th case, a sample for slow builds")
      ->check(CLI::Range(1, 1 << 30))
      ->type_name("COUNT");
  command
      ->add_option("--sim-order", call->sim_order,
                   "lane order of the simulated SM: forward, reversed or random:SEED")
      ->type_name("ORDER");
  command->add_option("--json", call->json, "write JSON to a file; - writes JSON alone to stdout")
      ->type_name("FILE|-");
  command->footer(
      "Examples:\n"
      "  rooftile verify\n"
      "  rooftile verify reduce --device sim --sim-order reversed\n"
      "  rooftile verify reduce --rung single_pass --device sim --shape n=1025 --offset 1");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
