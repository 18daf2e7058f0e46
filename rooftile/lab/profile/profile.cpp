#include "rooftile/lab/profile/profile.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "rooftile/lab/base/subprocess.h"
#include "rooftile/lab/case/candidate.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/profile/ncu.h"
#include "rooftile/sim/config.h"

namespace rooftile::lab {
namespace {

// Above this the simulated SM, which executes every thread in lockstep, would keep people waiting.
constexpr double kSimulatedBytes = 16.0 * 1024 * 1024;

std::vector<std::string> case_words(const CaseRequest& request) {
  std::vector<std::string> words;
  const auto add = [&words](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  for (const auto& [key, count] : request.shape) add("--shape", fmt::format("{}={}", key, count));
  for (const auto& [name, value] : request.args) add("--arg", fmt::format("{}={}", name, value));
  if (request.dtype) add("--dtype", std::string(rooftile::to_string(*request.dtype)));
  if (request.fill) add("--fill", std::string(rooftile::to_string(*request.fill)));
  if (request.offset) add("--offset", fmt::format("{}", *request.offset));
  if (request.seed) add("--seed", fmt::format("{}", *request.seed));
  return words;
}

// This program once more, to be watched by ncu.
Result<std::vector<std::string>> application(const Profile& profile, const LaunchOptions& launch) {
  ROOFTILE_TRY_ASSIGN(std::string self, own_path());
  std::vector<std::string> words = {
      std::move(self), "profile",  fmt::format("{}/{}", profile.operator_name, profile.rung),
      "--launch-only", "--device", to_string(launch.device)};
  if (launch.simulated_case) words.emplace_back("--simulated-case");
  for (std::string& word : case_words(launch.request)) words.push_back(std::move(word));
  return words;
}

// The application's line among those of ncu.
Result<ProfiledLaunch> find_launch(const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("{")) return parse_launch(line);
  }
  return internal_error("the profiled program did not say what it launched");
}

Status measure(Profile& profile, const ProfileOptions& options) {
  NcuOptions ncu;
  ncu.ncu = options.ncu;
  ncu.timeout_s = options.timeout_s;
  ROOFTILE_TRY_ASSIGN(ncu.application, application(profile, options.launch));
  ROOFTILE_TRY_ASSIGN(NcuRun run, run_ncu(ncu));
  ROOFTILE_TRY_ASSIGN(profile.measured.launch, find_launch(run.application_out));
  profile.measured.kernels = std::move(run.kernels);
  return {};
}

// Blocks one after the other: where they meet at an atomic, the simulated SM counts its retries, too, and a
// count that is compared must not depend on who came first.
Result<Simulation> simulate_in_order(const Registry& registry, const OperatorDescriptor& op,
                                     const std::string& rung, const SimulationOptions& options) {
  ROOFTILE_TRY_ASSIGN(const simt::ExecutorConfig before, simt::executor_config());
  simt::ExecutorConfig one_worker = before;
  one_worker.workers = 1;
  ROOFTILE_TRY(simt::set_executor_config(one_worker));
  Result<Simulation> simulation = simulate(registry, op, rung, options);
  ROOFTILE_TRY(simt::set_executor_config(before));
  return simulation;
}

// The same case with the same grid where it is small enough, else a small one like it: of its fill, or of another where there is none.
// What was measured decides, not what was asked for: a record alone gives the same.
Result<Simulation> simulate_beside(Profile& profile, const Registry& registry, const OperatorDescriptor& op) {
  const OperatorCases* cases = registry.cases(op.name);
  if (cases == nullptr) return internal_error("no cases are registered").with_operator(op.name);
  const ProfiledLaunch& launch = profile.measured.launch;
  ROOFTILE_TRY_ASSIGN(const Case c, make_case(op, *cases, launch.the_case, DeviceKind::sim));
  profile.case_name = case_id(c);
  ROOFTILE_TRY_ASSIGN(const HostProblem host, HostProblem::create(op, *cases, c));
  SimulationOptions simulation;
  simulation.session.checks = false;
  simulation.request = launch.the_case;
  profile.same_case = host.tensor_bytes() <= kSimulatedBytes;
  if (profile.same_case) {
    simulation.multiprocessors = launch.multiprocessors;
  } else {
    simulation.request.shape.clear();
  }
  Result<Simulation> simulated = simulate_in_order(registry, op, profile.rung, simulation);
  if (!profile.same_case && simulated.status().code() == StatusCode::unsupported) {
    simulation.request.fill.reset();
    Result<Simulation> of_another_fill = simulate_in_order(registry, op, profile.rung, simulation);
    if (of_another_fill.ok()) simulated = std::move(of_another_fill);
  }
  if (simulated.ok() && !simulated->run.wrong.empty())
    return Status::error(StatusCode::check_failed, simulated->run.wrong);
  return simulated;
}

}  // namespace

Result<Profile> profile(const Registry& registry, const OperatorDescriptor& op, const std::string& rung,
                        const ProfileOptions& options) {
  Profile profile;
  profile.operator_name = op.name;
  profile.rung = rung;
  ROOFTILE_TRY(check_rung_names(op, {}, {rung}));
  const RungRow& row = *op.find_rung(rung);
  if (row.kind == RungKind::cpu)
    return invalid_argument(fmt::format("{} runs on the CPU alone: ncu profiles GPU kernels", rung))
        .with_operator(op.name);
  profile.idea = row.idea;
  if (options.recorded) {
    profile.measured = *options.recorded;
  } else {
    ROOFTILE_TRY(measure(profile, options));
  }
  Result<Simulation> simulated = simulate_beside(profile, registry, op);
  if (simulated.ok()) {
    profile.simulation = std::move(*simulated);
  } else {
    if (simulated.status().code() == StatusCode::check_failed) return simulated.status();
    profile.no_simulation = simulated.status().sentence();
    profile.same_case = false;
  }
  profile.counters = compare_counters(profile.measured.kernels,
                                      profile.simulation ? &profile.simulation->run.report : nullptr);
  return profile;
}

}  // namespace rooftile::lab
