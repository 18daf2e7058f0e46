#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/check/verify.h"
#include "rooftile/lab/profile/ncu.h"
#include "rooftile/lab/profile/profile.h"
#include "rooftile/lab/profile/profile_record.h"

namespace rooftile::cli {
namespace {

struct ProfileCommand {
  std::string target;  // OP/RUNG, OP, or empty
  CaseOptions the_case;
  std::string device;
  bool simulated_case = false;
  bool launch_only = false;
  std::string ncu;
  double timeout_s = 120;
  std::string recorded;
  std::string json;
};

struct Job {
  const OperatorDescriptor* op = nullptr;
  std::string rung;
  std::optional<lab::MeasuredHalf> recorded{};
};

// "OP/RUNG", "OP" or nothing: one rung, all of an operator that run on a GPU, all of all operators.
Result<std::vector<Job>> parse_target(const Session& session, const std::string& text) {
  const std::size_t slash = text.find('/');
  std::vector<const OperatorDescriptor*> operators = session.registry.operators();
  if (!text.empty()) {
    ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, session.registry.get(text.substr(0, slash)));
    operators = {op};
  }
  if (slash != std::string::npos) {
    ROOFTILE_TRY(lab::check_rung_names(*operators.front(), {}, {text.substr(slash + 1)}));
    return std::vector<Job>{{.op = operators.front(), .rung = text.substr(slash + 1)}};
  }
  std::vector<Job> jobs;
  for (const OperatorDescriptor* op : operators) {
    for (const RungRow& rung : op->rungs) {
      if (rung.kind == RungKind::gpu) jobs.push_back({.op = op, .rung = rung.id});
    }
  }
  return jobs;
}

std::vector<Job>::const_iterator find_job(const std::vector<Job>& jobs, const std::string& operator_name,
                                          const std::string& rung) {
  return std::find_if(jobs.begin(), jobs.end(),
                      [&](const Job& job) { return job.op->name == operator_name && job.rung == rung; });
}

// Of a record's profiles those of the target, and of the shape where one was asked for.
Result<std::vector<Job>> recorded_jobs(const std::vector<Job>& target, const lab::ProfileRecord& record,
                                       const lab::CaseRequest& request, const std::string& path) {
  std::vector<Job> jobs;
  for (const lab::RecordedProfile& profile : record.profiles) {
    const auto job = find_job(target, profile.operator_name, profile.rung);
    if (job == target.end()) continue;
    if (!request.shape.empty() && request.shape != profile.measured.launch.the_case.shape) continue;
    jobs.push_back({.op = job->op, .rung = job->rung, .recorded = profile.measured});
  }
  if (!jobs.empty()) return jobs;
  return invalid_argument(fmt::format("{} holds no profile of what was asked for", path));
}

Result<lab::LaunchOptions> launch_options(const ProfileCommand& call) {
  lab::LaunchOptions options;
  ROOFTILE_TRY_ASSIGN(options.request, parse_case_options(call.the_case));
  options.simulated_case = call.simulated_case;
  ROOFTILE_TRY_ASSIGN(options.device, parse_device(call.device.empty() ? "cuda:0" : call.device));
  if (options.device.kind != DeviceKind::cuda) {
    return invalid_argument(
        fmt::format("--device {} has no ncu: give cuda:N, or see `rooftile sim`", call.device));
  }
  return options;
}

// The watched program's part.
Result<lab::ProfiledLaunch> launch(const Session& session, const ProfileCommand& call) {
  if (call.target.find('/') == std::string::npos)
    return invalid_argument("--launch-only takes one rung, as in OP/RUNG");
  ROOFTILE_TRY_ASSIGN(const std::vector<Job> jobs, parse_target(session, call.target));
  ROOFTILE_TRY_ASSIGN(const lab::LaunchOptions options, launch_options(call));
  ROOFTILE_TRY(usable_device(to_string(options.device)).status());
  return lab::launch_for_profiler(session.registry, *jobs.front().op, jobs.front().rung, options);
}

Result<std::string> ncu_path(const ProfileCommand& call, Device device) {
  if (!call.ncu.empty()) return call.ncu;
  Result<std::string> found = lab::find_ncu();
  // Without a GPU there is no use in installing ncu.
  if (!found.ok()) ROOFTILE_TRY(usable_device(to_string(device)).status());
  return found;
}

struct Outcome {
  std::vector<lab::Profile> profiles;
  std::vector<lab::SkippedProfile> skipped;
  Status failure;  // of the first rung that should have gone, but did not
};

// What ends at the first rung ends at every one: a machine
// without counters, say. Of what fails later the others are kept.
Result<Outcome> watch(const Session& session, const std::vector<Job>& jobs, lab::ProfileOptions options) {
  Outcome outcome;
  Status first_skip;
  lab::Progress progress;
  for (const Job& job : jobs) {
    progress.show(fmt::format("{}/{}: profiling and simulating", job.op->name, job.rung));
    options.recorded = job.recorded;
    Result<lab::Profile> profile = lab::profile(session.registry, *job.op, job.rung, options);
    if (profile.ok()) {
      outcome.profiles.push_back(std::move(*profile));
      continue;
    }
    const StatusCode code = profile.status().code();
    const bool not_served = code == StatusCode::unsupported || code == StatusCode::invalid_argument;
    if (!not_served && outcome.profiles.empty()) return profile.status();
    if (!not_served && outcome.failure.ok()) outcome.failure = profile.status();
    if (first_skip.ok()) first_skip = profile.status();
    outcome.skipped.push_back({job.op->name, job.rung, profile.status().sentence()});
  }
  if (outcome.profiles.empty()) return first_skip;
  return outcome;
}

Result<Outcome> profile(const Session& session, const ProfileCommand& call) {
  ROOFTILE_TRY_ASSIGN(const std::vector<Job> wanted, parse_target(session, call.target));
  lab::ProfileOptions options;
  ROOFTILE_TRY_ASSIGN(options.launch, launch_options(call));
  if (!(call.timeout_s > 0.0 && call.timeout_s <= 3600.0)) {
    return invalid_argument("--timeout must be above 0 and at most 3600 seconds");
  }
  options.timeout_s = call.timeout_s;
  if (call.recorded.empty()) {
    ROOFTILE_TRY_ASSIGN(options.ncu, ncu_path(call, options.launch.device));
    return watch(session, wanted, std::move(options));
  }
  if (options.launch.request.dtype || !options.launch.request.args.empty()) {
    return invalid_argument("--recorded goes by the record's own --dtype and --arg: leave them out");
  }
  ROOFTILE_TRY_ASSIGN(const std::string text, read_text(call.recorded));
  const Result<lab::ProfileRecord> record = lab::parse_profiles(text);
  if (!record.ok()) return io_error(fmt::format("{}: {}", call.recorded, record.status().sentence()));
  ROOFTILE_TRY_ASSIGN(const std::vector<Job> jobs,
                      recorded_jobs(wanted, *record, options.launch.request, call.recorded));
  ROOFTILE_TRY_ASSIGN(Outcome outcome, watch(session, jobs, std::move(options)));
  for (const lab::SkippedProfile& skip : record->skipped) {
    if (find_job(wanted, skip.operator_name, skip.rung) != wanted.end()) outcome.skipped.push_back(skip);
  }
  return outcome;
}

int run(Session& session, const ProfileCommand& call) {
  if (call.launch_only) {
    const Result<lab::ProfiledLaunch> launched = launch(session, call);
    if (!launched.ok()) return report(launched.status());
    fmt::print("{}\n", lab::launch_json(*launched));
    return kDone;
  }
  const Result<Outcome> outcome = profile(session, call);
  if (!outcome.ok()) return report(outcome.status());
  if (call.json != "-") {
    for (const lab::Profile& profile : outcome->profiles) {
      fmt::print("{}{}", &profile == outcome->profiles.data() ? "" : "\n",
                 lab::profile_table(profile, lab::stdout_width(), lab::stdout_has_colour()));
    }
    for (const lab::SkippedProfile& skip : outcome->skipped)
      fmt::print("skipped {}/{}: {}\n", skip.operator_name, skip.rung, skip.reason);
  }
  if (!call.json.empty()) {
    const std::string text =
        lab::profiles_json(outcome->profiles, outcome->skipped, session.command_line, call.simulated_case);
    if (const Status status = write_text(call.json, text); !status.ok()) return report(status);
  }
  return outcome->failure.ok() ? kDone : report(outcome->failure);
}

}  // namespace

void add_profile(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("profile", "a rung under Nsight Compute, and on the simulated SM beside it");
  auto call = std::make_shared<ProfileCommand>();
  command->add_option(
      "OP/RUNG", call->target,
      "a rung of `rooftile list`; OP for all of it that run on a GPU; default: all operators");
  add_case_options(*command, call->the_case);
  command->add_option("--device", call->device, "cuda:N (default cuda:0)")->type_name("DEVICE");
  command->add_flag("--simulated-case", call->simulated_case,
                    "the case that `sim` takes, so that counts compare one by one");
  command->add_option("--recorded", call->recorded, "take what was measured from a record; needs no GPU")
      ->type_name("FILE");
  command->add_option("--ncu", call->ncu, "Nsight Compute's command line, where it is not found by itself")
      ->type_name("PATH");
  command->add_option("--timeout", call->timeout_s, "the most seconds for ncu (default 120)")
      ->type_name("SECONDS");
  command->add_flag("--launch-only", call->launch_only,
                    "without ncu: verify, then launch between start and stop of a profiler's range");
  command->add_option("--json", call->json, "write JSON to a file; - writes JSON alone to stdout")
      ->type_name("FILE|-");
  command->footer(
      "Speed of Light, memory, launch, occupancy and scheduler of every kernel, and what the GPU and the "
      "simulated\n"
      "SM counted side by side. Needs a GPU, ncu, and its counters for this user.\n"
      "Examples:\n"
      "  rooftile profile reduce/vectorized\n"
      "  rooftile profile --simulated-case --json profile.json\n"
      "  rooftile profile transpose/shared_tile --recorded profile.json\n"
      "  ncu --profile-from-start off -o report rooftile profile reduce/vectorized --launch-only");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
