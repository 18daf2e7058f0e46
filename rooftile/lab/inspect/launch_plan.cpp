#include "rooftile/lab/inspect/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/inspect/kernel_name.h"
#include "rooftile/lab/inspect/reserved_tensors.h"
#include "rooftile/sim/checked/source_lines.h"
#include "rooftile/sim/launch_recording.h"

namespace rooftile::lab {
namespace {

bool same_shape(const simt::GridShape& a, const simt::GridShape& b) {
  const auto same = [](simt::dim3 x, simt::dim3 y) { return x.x == y.x && x.y == y.y && x.z == y.z; };
  return same(a.grid, b.grid) && same(a.block, b.block) && same(a.cluster, b.cluster) &&
         a.dynamic_shared_bytes == b.dynamic_shared_bytes && a.cooperative == b.cooperative;
}

std::vector<PlannedLaunch> planned(const std::vector<simt::RecordedLaunch>& recorded) {
  std::vector<PlannedLaunch> launches;
  for (const simt::RecordedLaunch& launch : recorded) {
    const std::string kernel = portable_kernel_name(simt::checked::symbol_of(launch.kernel));
    const auto same = std::find_if(launches.begin(), launches.end(), [&](const PlannedLaunch& other) {
      return other.kernel == kernel && same_shape(other.shape, launch.shape);
    });
    if (same != launches.end()) {
      ++same->times;
    } else {
      launches.push_back({kernel, launch.shape});
    }
  }
  return launches;
}

int volume(simt::dim3 extents) { return static_cast<int>(extents.x * extents.y * extents.z); }

}  // namespace

std::int64_t PlannedLaunch::blocks() const {
  return std::int64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
}
int PlannedLaunch::block_threads() const { return volume(shape.block); }
int PlannedLaunch::cluster_blocks() const { return volume(shape.cluster); }

namespace {

// The launches of one case; `unsupported` where the rung does not serve it.
Result<LaunchPlan> plan_case(const OperatorDescriptor& op, const OperatorCases& cases, const RungRow& rung,
                             const Case& c, const DeviceProperties& device) {
  ROOFTILE_TRY_ASSIGN(const TensorPlan tensor_plan, plan_tensors(op, cases, c));
  ROOFTILE_TRY_ASSIGN(const ReservedTensors tensors, reserve_tensors(op, c, tensor_plan, kSim));
  const Result<AnyArgs> args = op.make_args(tensors.views, c.params);
  if (!args.ok()) return args.status().with_operator(op.name);
  // The row's own word alone: nothing runs here, so a rung that may not be run can be looked at.
  const std::string_view reason = rung.supports ? rung.supports(*args, device) : "";
  if (!reason.empty()) return unsupported(fmt::format("{}: {}", rung.id, reason)).with_operator(op.name);

  const RungPlan plan = plan_rung(rung, *args, device);
  const WorkspaceSpec& spec = plan.workspace;
  ROOFTILE_TRY_ASSIGN(const Addresses any, Addresses::reserve(spec.bytes));
  ROOFTILE_TRY_ASSIGN(const Addresses zeroed, Addresses::reserve(spec.zeroed_bytes));
  const simt::LaunchRecording recording;
  const Status launched = launch_for(rung, DeviceKind::sim)(
      {{kSim}, &device, *args, &plan, {any.data(), spec.bytes, zeroed.data(), spec.zeroed_bytes}});
  if (!launched.ok()) return launched.with_operator(op.name);
  return LaunchPlan{c, false, planned(recording.launches())};
}

// Cases like the wanted one: of its dtype before those of others (which only count where none was asked for), the largest
// first.
std::vector<Case> similar_cases(const OperatorCases& cases, const Case& wanted, const CaseRequest& request) {
  std::vector<std::pair<std::pair<bool, double>, Case>> choices;
  for (Case& c : cases.cases()) {
    const bool other_dtype = c.dtype != wanted.dtype;
    if (c.tier == CaseTier::huge || (other_dtype && request.dtype) || c.offset != wanted.offset ||
        (!request.args.empty() && c.params.values() != wanted.params.values())) {
      continue;
    }
    const Result<CasePlan> plan = cases.plan(c);
    if (!plan.ok()) continue;
    choices.emplace_back(std::pair(other_dtype, -(plan->read_bytes + plan->write_bytes)), std::move(c));
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Case> sorted;
  for (auto& [rank, c] : choices) sorted.push_back(std::move(c));
  return sorted;
}

}  // namespace

Result<LaunchPlan> plan_launches(const Registry& registry, const OperatorDescriptor& op, const RungRow& rung,
                                 const CaseRequest& request, const GpuModel& gpu) {
  const OperatorCases* cases = registry.cases(op.name);
  if (cases == nullptr) return internal_error("no cases are registered").with_operator(op.name);
  if (rung.kind == RungKind::cpu) {
    return invalid_argument(fmt::format("{} runs on the CPU alone: inspect looks at GPU kernels", rung.id))
        .with_operator(op.name);
  }
  ROOFTILE_TRY_ASSIGN(const DeviceProperties device, simulated_properties(gpu));
  if (const std::string reason = unavailable_reason(rung, device); !reason.empty())
    return unsupported(fmt::format("{}: {}", rung.id, reason)).with_operator(op.name);
  ROOFTILE_TRY_ASSIGN(const Case wanted, make_case(op, *cases, request, DeviceKind::cuda));
  Result<LaunchPlan> plan = plan_case(op, *cases, rung, wanted, device);
  if (plan.ok() || !request.shape.empty() || plan.status().code() != StatusCode::unsupported) return plan;
  for (const Case& c : similar_cases(*cases, wanted, request)) {
    Result<LaunchPlan> other = plan_case(op, *cases, rung, c, device);
    if (!other.ok() || other->launches.empty()) continue;
    other->other_case = true;
    return other;
  }
  return plan;
}

}  // namespace rooftile::lab
