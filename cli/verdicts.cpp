#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/ladder/json_report.h"
#include "rooftile/lab/ladder/verdict_trial.h"

namespace rooftile::cli {
namespace {

struct VerdictsCommand {
  std::string op = "reduce";
  CaseOptions the_case;
  std::string rung;
  std::string device;
  std::string mode;
  int runs = 200;
  double difference = 0.03;
  double budget_s = 1.3;
  std::string json;
};

Result<lab::VerdictTrial> measure(Session& session, const VerdictsCommand& call) {
  ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, session.registry.get(call.op));
  lab::VerdictTrialOptions options;
  ROOFTILE_TRY_ASSIGN(options.request, parse_case_options(call.the_case));
  options.device = default_device();
  if (!call.device.empty()) {
    ROOFTILE_TRY_ASSIGN(options.device, usable_device(call.device));
  }
  if (!call.mode.empty()) {
    ROOFTILE_TRY_ASSIGN(options.timing.mode, lab::parse_time_mode(call.mode));
  }
  if (!call.rung.empty()) {
    const std::vector<std::string> rungs = parse_rungs({call.rung}, op->name);
    if (rungs.size() != 1) return invalid_argument("--rung takes one rung: a launch is compared with itself");
    options.rung = rungs.front();
  }
  if (call.runs < 1 || call.runs > 100000) return invalid_argument("--runs must be from 1 to 100000");
  if (!(call.budget_s > 0.0 && call.budget_s <= 3600.0)) {
    return invalid_argument("--budget must be above 0 and at most 3600 seconds");
  }
  if (!(call.difference > 0.0 && call.difference <= 100.0))
    return invalid_argument("--difference is a share of the largest extent, above 0 and at most 100");
  options.runs = call.runs;
  options.difference = call.difference;
  // A quiet machine decides in the first 60; the rest is for a host whose other guests are busy.
  options.timing.max_rounds = 3840;
  options.timing.budget_s = call.budget_s;
  lab::Progress progress;
  options.on_run = [&progress](int done, int total) {
    progress.show(fmt::format("comparison {} of {}, A/A and A/B", done + 1, total));
  };
  return lab::try_verdicts(session.registry, *op, options);
}

void print_counts(const char* label, const lab::VerdictCounts& counts) {
  fmt::print("{}  {} runs:", label, counts.runs);
  for (const lab::Verdict verdict :
       {lab::Verdict::faster, lab::Verdict::slower, lab::Verdict::same, lab::Verdict::insufficient}) {
    fmt::print(" {} {} ({:.1f} %){}", counts.count(verdict), to_string(verdict),
               100.0 * counts.share(verdict), verdict == lab::Verdict::insufficient ? "" : ",");
  }
  fmt::print("; median ratios {:.4f} to {:.4f}\n", counts.low, counts.high);
}

void print_trial(const lab::VerdictTrial& c) {
  fmt::print("{}/{} on {}, {}, {}: {:.1f} us; {:.1f} s in all\n", c.operator_name, c.rung,
             to_string(c.device), to_string(c.mode), case_id(c.a), c.median_us, c.seconds);
  print_counts("A/A        ", c.same);
  print_counts(fmt::format("A/B {:+.2f} %", 100.0 * c.difference).c_str(), c.differs);
  if (!c.caveat.empty()) fmt::print("{}\n", c.caveat);
}

int run(Session& session, const VerdictsCommand& call) {
  Result<lab::VerdictTrial> trial = measure(session, call);
  // A gate that was missed is tried once more: a host's other guests come and go.
  if (trial.ok() && !trial->finding().empty()) trial = measure(session, call);
  if (!trial.ok()) return report(trial.status());
  if (call.json != "-") print_trial(*trial);
  if (!call.json.empty()) {
    const Status status = write_text(call.json, lab::verdict_trial_json(*trial, session.command_line));
    if (!status.ok()) return report(status);
  }
  if (const std::string finding = trial->finding(); !finding.empty()) return report(kCheckFailed, finding);
  return kDone;
}

}  // namespace

void add_verdicts(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "verdicts", "how far verdicts can be trusted here: a rung against its twin, and against 3 % more work");
  auto call = std::make_shared<VerdictsCommand>();
  command->add_option("OP", call->op, "an operator of `rooftile list` (default reduce)");
  add_case_options(*command, call->the_case);
  command->add_option("--rung", call->rung, "default: the one that the library chooses")->type_name("RUNG");
  command->add_option("--device", call->device, "cuda:N or cpu; default: the GPU, or cpu")
      ->type_name("DEVICE");
  command->add_option("--mode", call->mode, "as of `rooftile ladder`")->type_name("MODE");
  command->add_option("--runs", call->runs, "comparisons of each kind (default 200)")->type_name("COUNT");
  command
      ->add_option("--difference", call->difference,
                   "by which the other case of A/B is larger (default 0.03)")
      ->type_name("SHARE");
  command->add_option("--budget", call->budget_s, "the most seconds for one comparison (default 1.3)")
      ->type_name("SECONDS");
  command->add_option("--json", call->json, "write JSON to a file; - writes JSON alone to stdout")
      ->type_name("FILE|-");
  command->footer(
      "Exit code 1 when more than 5 % of the A/A comparisons say faster or slower, or fewer than 90 % of "
      "the\n"
      "A/B comparisons find the difference.\n"
      "Examples:\n"
      "  rooftile verdicts\n"
      "  rooftile verdicts reduce --rung serial --device cpu --mode stream-hot --shape n=2^16\n"
      "  rooftile verdicts reduce --device cuda:0 --json results/h200/verdicts_reduce.json");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
