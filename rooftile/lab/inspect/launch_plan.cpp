#include "rooftile/lab/inspect/launch_plan.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/inspect/kernel_name.h"
#include "rooftile/sim/checked/source_lines.h"
#include "rooftile/sim/launch_recording.h"

namespace rooftile::lab {
namespace {

// Addresses without memory behind them: nobody reads what they hold, and who does stops there and then.
class Addresses {
 public:
  static Result<Addresses> reserve(std::size_t bytes) {
    Addresses addresses;
    addresses.bytes_ = std::max<std::size_t>(bytes, 1);
    void* const start =
        ::mmap(nullptr, addresses.bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
      return Status::error(StatusCode::out_of_memory,
                           fmt::format("cannot reserve addresses for {}: choose a smaller --shape",
                                       format_bytes(static_cast<double>(bytes))));
    }
    addresses.start_ = start;
    return addresses;
  }
  Addresses(Addresses&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Addresses& operator=(Addresses&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Addresses() {
    if (start_ != nullptr) ::munmap(start_, bytes_);
  }
  [[nodiscard]] char* data() const { return static_cast<char*>(start_); }

 private:
  Addresses() = default;
  void* start_ = nullptr;
  std::size_t bytes_ = 0;
};

// The case's tensors on reserved addresses, each off its alignment by the case's offset.
struct ReservedTensors {
  std::vector<Addresses> addresses;
  std::vector<TensorView> views;
};

Result<ReservedTensors> reserve_tensors(const OperatorDescriptor& op, const Case& c, const TensorPlan& plan) {
  ReservedTensors tensors;
  for (const TensorSpec& spec : specs_by_slot(op, plan.inputs, plan.outputs)) {
    if (is_absent(spec)) {
      tensors.views.emplace_back();
      continue;
    }
    const std::size_t offset = static_cast<std::size_t>(c.offset) * size_of(spec.dtype);
    ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(spec.shape, size_of(spec.dtype)));
    ROOFTILE_TRY_ASSIGN(Addresses addresses,
                        Addresses::reserve(offset + static_cast<std::size_t>(numel) * size_of(spec.dtype)));
    tensors.views.push_back(
        contiguous_view<void>(static_cast<void*>(addresses.data() + offset), spec.dtype, kSim, spec.shape));
    tensors.addresses.push_back(std::move(addresses));
  }
  return tensors;
}

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
  ROOFTILE_TRY_ASSIGN(const ReservedTensors tensors, reserve_tensors(op, c, tensor_plan));
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
