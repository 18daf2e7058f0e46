#include "rooftile/lab/profile/profile_launch.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/check/verify.h"
#include "rooftile/lab/profile/gpu_profiler.h"
#include "rooftile/lab/simulate/simulation.h"

namespace rooftile::lab {
namespace {

using Json = nlohmann::ordered_json;

// Outputs are poisoned before the launch: a profiler that replays the kernel restores them itself.
constexpr int kPoison = 0xff;

CaseRequest complete_request(const Case& c) {
  CaseRequest request;
  for (const auto& [key, extent] : c.shape) request.shape.emplace_back(key, fmt::format("{}", extent));
  for (const auto& [name, value] : c.params.values())
    request.args.emplace_back(name, rooftile::to_string(value));
  request.dtype = c.dtype;
  request.fill = c.fill;
  request.offset = c.offset;
  request.seed = c.seed;
  request.in_place = c.in_place;
  return request;
}

Status launch_in_range(const Candidate& candidate, DeviceProblem& problem) {
  const CheckResult check = check_candidate(candidate, problem);
  if (check.status != CheckStatus::passed) {
    return Status::error(
        StatusCode::check_failed,
        fmt::format("{} is not verified, so it is not profiled: {}", check.id, check.reason));
  }
  ROOFTILE_TRY_ASSIGN(const Scratch scratch, problem.make_scratch(candidate.plan.workspace));
  ROOFTILE_TRY(problem.prepare(kPoison));
  ROOFTILE_TRY(synchronize(problem.stream()));
  ROOFTILE_TRY(start_profiler_range());
  const Status launched = candidate.launch(problem.call(candidate.plan, scratch.workspace()));
  const Status finished = synchronize(problem.stream());
  ROOFTILE_TRY(stop_profiler_range());
  ROOFTILE_TRY(launched);
  return finished;
}

std::vector<Case> cases_to_try(const OperatorCases& cases, const Case& wanted, const LaunchOptions& options) {
  std::vector<Case> list;
  const bool own_shape = !options.request.shape.empty();
  if (own_shape || !options.simulated_case) list.push_back(wanted);
  if (own_shape) return list;
  for (Case& c : simulated_cases(cases, wanted, options.request)) list.push_back(std::move(c));
  return list;
}

}  // namespace

Result<ProfiledLaunch> launch_for_profiler(const Registry& registry, const OperatorDescriptor& op,
                                           const std::string& rung, const LaunchOptions& options) {
  const OperatorCases* cases = registry.cases(op.name);
  if (cases == nullptr) return internal_error("no cases are registered").with_operator(op.name);
  ROOFTILE_TRY(check_rung_names(op, {}, {rung}));
  ROOFTILE_TRY_ASSIGN(const Case wanted, make_case(op, *cases, options.request, options.device.kind));
  std::string why_not;
  for (const Case& c : cases_to_try(*cases, wanted, options)) {
    ROOFTILE_TRY_ASSIGN(HostProblem host, HostProblem::create(op, *cases, c));
    ROOFTILE_TRY_ASSIGN(DeviceProblem problem, DeviceProblem::create(host, options.device));
    const std::vector<Candidate> found = candidates(op, {}, {rung}, problem.args(), problem.properties());
    if (found.empty()) {
      return invalid_argument(fmt::format("{} runs on the CPU alone: ncu profiles GPU kernels", rung))
          .with_operator(op.name);
    }
    if (!found.front().unsupported.empty()) {
      if (why_not.empty()) why_not = found.front().unsupported;
      continue;
    }
    ROOFTILE_TRY(launch_in_range(found.front(), problem));
    const DeviceProperties& gpu = problem.properties();
    return ProfiledLaunch{complete_request(c), gpu.name, gpu.compute_capability, gpu.multiprocessors};
  }
  return unsupported(fmt::format("{}: {}", rung, why_not)).with_operator(op.name);
}

std::string launch_json(const ProfiledLaunch& launch) {
  const CaseRequest& request = launch.the_case;
  Json shape = Json::object();
  for (const auto& [key, count] : request.shape) shape[key] = count;
  Json args = Json::object();
  for (const auto& [name, value] : request.args) args[name] = value;
  const Json json = {{"shape", shape},
                     {"dtype", rooftile::to_string(*request.dtype)},
                     {"args", args},
                     {"fill", rooftile::to_string(*request.fill)},
                     {"offset", *request.offset},
                     {"seed", *request.seed},
                     {"gpu", launch.gpu},
                     {"compute_capability", launch.compute_capability},
                     {"multiprocessors", launch.multiprocessors}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ProfiledLaunch> parse_launch(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  ProfiledLaunch launch;
  try {
    for (const auto& [key, count] : json.at("shape").items())
      launch.the_case.shape.emplace_back(key, count.get<std::string>());
    for (const auto& [name, value] : json.at("args").items())
      launch.the_case.args.emplace_back(name, value.get<std::string>());
    ROOFTILE_TRY_ASSIGN(launch.the_case.dtype, parse_dtype(json.at("dtype").get<std::string>()));
    ROOFTILE_TRY_ASSIGN(launch.the_case.fill, parse_fill(json.at("fill").get<std::string>()));
    launch.the_case.offset = json.at("offset").get<int>();
    launch.the_case.seed = json.at("seed").get<std::uint64_t>();
    launch.gpu = json.at("gpu").get<std::string>();
    launch.compute_capability = json.at("compute_capability").get<int>();
    launch.multiprocessors = json.at("multiprocessors").get<int>();
  } catch (const Json::exception& error) {
    return io_error(fmt::format("the description of a profiled launch is not complete: {}", error.what()));
  }
  return launch;
}

}  // namespace rooftile::lab
