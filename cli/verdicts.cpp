#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/ladder/json_report.h"
#include "rooftile/lab/ladder/verdict_trial.h"
#include "rooftile/lab/time/statistics.h"

namespace rooftile::cli {
namespace {

// So many comparisons on the same buffers: where they lie shall not decide a trial.
constexpr int kPart = 25;
// A missed gate is tried again, because a host's other guests come and go; but no further trial begins that would not end
// within this time at the pace of those before.
constexpr int kTrials = 3;
constexpr double kTrialsSeconds = 400;

struct VerdictsCommand {
  std::string op = "reduce";
  CaseOptions the_case;
  std::string rung;
  std::string device;
  std::string mode;
  int runs = 200;
  double difference = 0.03;
  double budget_s = 1.2;  // less than the lab's own: a slow trial that ends early leaves time for another
  std::string json;
};

Result<lab::VerdictTrialOptions> options_of(const Session& session, const VerdictsCommand& call) {
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
  // On a host the threaded rung, which uses a's tensors, would make a slower than its twin (docs/measuring.md).
  if (options.device.kind == DeviceKind::cpu) options.neighbours = 0;
  options.timing.budget_s = call.budget_s;
  return options;
}

void add(lab::VerdictCounts& all, const lab::VerdictCounts& part) {
  if (part.runs == 0) return;
  all.low = all.runs == 0 ? part.low : std::min(all.low, part.low);
  all.high = all.runs == 0 ? part.high : std::max(all.high, part.high);
  for (std::size_t i = 0; i < all.of.size(); ++i) all.of[i] += part.of[i];
  all.runs += part.runs;
}

// Whether a gate of `runs` comparisons is missed whatever those say that are still to come.
bool is_missed(lab::VerdictTrial trial, int runs) {
  const int left = runs - trial.same.runs;
  lab::VerdictCounts best;
  best.runs = left;
  best.of[static_cast<std::size_t>(lab::Verdict::same)] = left;
  add(trial.same, best);
  std::swap(best.of[static_cast<std::size_t>(lab::Verdict::same)],
            best.of[static_cast<std::size_t>(lab::Verdict::faster)]);
  add(trial.differs, best);
  return !trial.finding().empty();
}

// One trial, in parts; it ends early where its gate is missed.
Result<lab::VerdictTrial> run_trial(const Session& session, const OperatorDescriptor& op,
                                    lab::VerdictTrialOptions options) {
  const int runs = options.runs;
  lab::Progress progress;
  lab::VerdictTrial trial;
  std::vector<double> medians_us;
  do {
    const int before = trial.same.runs;
    options.runs = std::min(kPart, runs - before);
    options.on_run = [&progress, before, runs](int done, int /*total*/) {
      progress.show(fmt::format("comparison {} of {}, A/A and A/B", before + done + 1, runs));
    };
    ROOFTILE_TRY_ASSIGN(lab::VerdictTrial part, lab::try_verdicts(session.registry, op, options));
    options.seed += static_cast<std::uint64_t>(options.runs);
    medians_us.push_back(part.median_us);
    add(part.same, trial.same);
    add(part.differs, trial.differs);
    part.seconds += trial.seconds;
    if (part.caveat.empty()) part.caveat = trial.caveat;
    trial = std::move(part);
  } while (trial.same.runs < runs && !is_missed(trial, runs));
  trial.median_us = lab::quantile(medians_us, 0.5);
  return trial;
}

// The first trial that holds the gate, or the last; of those before it a line each on stderr.
Result<lab::VerdictTrial> measure(const Session& session, const VerdictsCommand& call) {
  ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, session.registry.get(call.op));
  ROOFTILE_TRY_ASSIGN(lab::VerdictTrialOptions options, options_of(session, call));
  const auto start = std::chrono::steady_clock::now();
  int compared = 0;
  for (int i = 1;; ++i) {
    ROOFTILE_TRY_ASSIGN(lab::VerdictTrial trial, run_trial(session, *op, options));
    compared += trial.same.runs;
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string finding = trial.finding();
    if (finding.empty() || i == kTrials || spent + spent / compared * call.runs > kTrialsSeconds)
      return trial;
    fmt::print(stderr, "trial {} of at most {} missed its gate: {}\n", i, kTrials, finding);
    options.seed += static_cast<std::uint64_t>(call.runs);
  }
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
  const Result<lab::VerdictTrial> trial = measure(session, call);
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
  command->add_option("--budget", call->budget_s, "the most seconds for one comparison (default 1.2)")
      ->type_name("SECONDS");
  command->add_option("--json", call->json, "write JSON to a file; - writes JSON alone to stdout")
      ->type_name("FILE|-");
  command->footer(
      "Exit code 1 when more than 5 % of the A/A comparisons say faster or slower, or fewer than 90 % of "
      "the\n"
      "A/B comparisons find the difference, in the last of up to three trials.\n"
      "Examples:\n"
      "  rooftile verdicts\n"
      "  rooftile verdicts reduce --rung serial --device cpu --mode stream-hot --shape n=2^16\n"
      "  rooftile verdicts reduce --device cuda:0 --json results/h200/verdicts_reduce.json");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
