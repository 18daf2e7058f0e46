#include "rooftile/core/operator.h"

#include <cstdint>

#include "rooftile/core/memory.h"

namespace rooftile {
namespace {

std::string arch_name(int compute_capability) { return "sm_" + std::to_string(compute_capability); }

std::string arch_reason(const ArchNeed& need, int compute_capability) {
  const std::string here = ", this is " + arch_name(compute_capability);
  if (need.exact && compute_capability != need.minimum)
    return "needs " + arch_name(need.minimum) + "a" + here;
  if (compute_capability < need.minimum) return "needs " + arch_name(need.minimum) + " or newer" + here;
  return "";
}

std::string not_built_reason(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cuda:
      return "not built into this program for cuda (configure with a CUDA toolkit)";
    case DeviceKind::sim:
      return "not built into this program for sim (link the simulated kernels)";
    case DeviceKind::cpu:
      break;
  }
  return "not built into this program for cpu";
}

// Of a rung that is available.
std::string unserved_reason(const RungRow& rung, ArgsRef args, const DeviceProperties& device) {
  if (!rung.wrong_on_purpose.empty()) return "wrong on purpose: " + rung.wrong_on_purpose;
  return rung.supports ? std::string(rung.supports(args, device)) : "";
}

Result<const RungRow*> chosen_rung(const OperatorDescriptor& op, ArgsRef args,
                                   const DeviceProperties& device) {
  const std::string_view id = op.choose ? op.choose(args, device) : "";
  if (id.empty()) return unsupported("no rung serves this call on " + to_string(device.device));
  const RungRow* rung = op.find_rung(id);
  if (rung == nullptr)
    return internal_error("choose() names the rung " + std::string(id) + ", which is not in the table");
  return rung;
}

Status check_serves(const RungRow& rung, ArgsRef args, const DeviceProperties& device) {
  const auto where = [&] { return rung.id + " on " + to_string(device.device) + ": "; };
  if (const std::string reason = unavailable_reason(rung, device); !reason.empty())
    return unavailable(where() + reason);
  const std::string reason = unserved_reason(rung, args, device);
  return reason.empty() ? Status() : unsupported(where() + reason);
}

bool aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % kAllocationAlignment == 0; }

Status check_workspace(const Workspace& workspace, const WorkspaceSpec& spec) {
  if (!workspace.covers(spec)) {
    return invalid_argument("the workspace is too small: it has " + std::to_string(workspace.bytes) +
                            " bytes and " + std::to_string(workspace.zeroed_bytes) +
                            " zeroed, the call needs " + std::to_string(spec.bytes) + " and " +
                            std::to_string(spec.zeroed_bytes) + " zeroed");
  }
  if ((spec.bytes > 0 && workspace.data == nullptr) ||
      (spec.zeroed_bytes > 0 && workspace.zeroed == nullptr)) {
    return invalid_argument("the workspace has a size but no memory: its pointers are null");
  }
  if (!aligned(workspace.data) || !aligned(workspace.zeroed)) {
    return invalid_argument("the workspace must be aligned to " + std::to_string(kAllocationAlignment) +
                            " bytes");
  }
  return {};
}

Status launch(const RungRow& rung, StreamRef stream, const DeviceProperties& device, ArgsRef args,
              const RungPlan& plan, const Workspace& workspace) {
  return launch_for(rung, device.device.kind)({stream, &device, args, &plan, workspace});
}

Status launch_in(Context& context, const RungRow& rung, ArgsRef args, const RungPlan& plan) {
  Result<Workspace> workspace = context.workspace(plan.workspace);
  if (!workspace.ok()) return workspace.status();
  workspace->error_word = context.error_word();
  const Status status = launch(rung, context.stream(), context.properties(), args, plan, *workspace);
  // A call that failed between two launches may have left the zeroed part dirty for the next one.
  if (!status.ok()) (void)context.discard_workspace();
  return status;
}

// An error with the operator's name and the call, which nobody spells out before there is one.
Status explained(const OperatorDescriptor& op, ArgsRef args, const Status& status) {
  if (status.ok()) return status;
  return status.with_operator(op.name).with_shapes(op.describe ? op.describe(args) : "");
}

}  // namespace

const RungRow* OperatorDescriptor::find_rung(std::string_view id) const {
  for (const RungRow& rung : rungs) {
    if (rung.id == id) return &rung;
  }
  return nullptr;
}

const TensorSlot* OperatorDescriptor::find_slot(std::string_view slot_name) const {
  for (const TensorSlot& slot : slots) {
    if (slot.name == slot_name) return &slot;
  }
  return nullptr;
}

std::vector<std::string> OperatorDescriptor::rung_ids() const {
  std::vector<std::string> ids;
  for (const RungRow& rung : rungs) ids.push_back(rung.id);
  return ids;
}

const LaunchFn& launch_for(const RungRow& rung, DeviceKind kind) {
  static const LaunchFn kNone;
  if ((rung.kind == RungKind::cpu) != (kind == DeviceKind::cpu)) return kNone;
  switch (kind) {
    case DeviceKind::cuda:
      return rung.launch.cuda;
    case DeviceKind::sim:
      return rung.launch.sim;
    case DeviceKind::cpu:
      return rung.launch.cpu;
  }
  return kNone;
}

std::string unavailable_reason(const RungRow& rung, const DeviceProperties& device) {
  const DeviceKind kind = device.device.kind;
  if (rung.absent)
    return "not built into this program: ./rt builds an operator when a command names it, ROOFTILE_OPERATORS=all does";
  if (rung.kind == RungKind::cpu && kind != DeviceKind::cpu) return "a CPU rung";
  if (rung.kind == RungKind::gpu && kind == DeviceKind::cpu) return "a GPU rung";
  if (!launch_for(rung, kind)) return not_built_reason(kind);
  return rung.kind == RungKind::gpu ? arch_reason(rung.arch, device.compute_capability) : "";
}

std::string unsupported_reason(const RungRow& rung, ArgsRef args, const DeviceProperties& device) {
  std::string reason = unavailable_reason(rung, device);
  return reason.empty() ? unserved_reason(rung, args, device) : reason;
}

std::vector<TensorSpec> specs_by_slot(const OperatorDescriptor& op, std::span<const TensorSpec> inputs,
                                      std::span<const TensorSpec> outputs) {
  std::vector<TensorSpec> specs;
  auto next_input = inputs.begin();
  auto next_output = outputs.begin();
  for (const TensorSlot& slot : op.slots) specs.push_back(is_read(slot) ? *next_input++ : *next_output++);
  return specs;
}

bool writes_nothing(const OperatorDescriptor& op, ArgsRef args) {
  bool nothing = !op.slots.empty();
  for (const TensorSlot& slot : op.slots) {
    if (!is_written(slot)) continue;
    const ConstTensorView view = slot.view(args);
    nothing = nothing && ((slot.optional && is_absent(view)) || view.numel() == 0);
  }
  return nothing;
}

RungPlan plan_rung(const RungRow& rung, ArgsRef args, const DeviceProperties& device) {
  return rung.plan ? rung.plan(args, device) : RungPlan{};
}

Result<CallPlan> plan_call(const OperatorDescriptor& op, ArgsRef args, const DeviceProperties& device) {
  const auto plan = [&]() -> Result<CallPlan> {
    if (op.check) ROOFTILE_TRY(op.check(args, device.device));
    if (writes_nothing(op, args)) return CallPlan{};
    ROOFTILE_TRY_ASSIGN(const RungRow* rung, chosen_rung(op, args, device));
    ROOFTILE_TRY(check_serves(*rung, args, device));
    return CallPlan{rung, plan_rung(*rung, args, device)};
  };
  Result<CallPlan> result = plan();
  return result.ok() ? std::move(result) : Result<CallPlan>(explained(op, args, result.status()));
}

Result<WorkspaceSpec> workspace_of(const OperatorDescriptor& op, ArgsRef args, Device device) {
  const Result<const DeviceProperties*> properties = device_properties(device);
  if (!properties.ok()) return explained(op, args, properties.status());
  ROOFTILE_TRY_ASSIGN(const CallPlan plan, plan_call(op, args, **properties));
  return plan.rung_plan.workspace;
}

Status run(const OperatorDescriptor& op, Context& context, ArgsRef args) {
  ROOFTILE_TRY_ASSIGN(const CallPlan plan, plan_call(op, args, context.properties()));
  if (plan.rung == nullptr) return {};
  return explained(op, args, launch_in(context, *plan.rung, args, plan.rung_plan));
}

Status run(const OperatorDescriptor& op, StreamRef stream, ArgsRef args, const Workspace& workspace) {
  const Result<const DeviceProperties*> device = device_properties(stream.device);
  if (!device.ok()) return explained(op, args, device.status());
  ROOFTILE_TRY_ASSIGN(const CallPlan plan, plan_call(op, args, **device));
  if (plan.rung == nullptr) return {};
  const Status status = check_workspace(workspace, plan.rung_plan.workspace);
  if (!status.ok()) return explained(op, args, status);
  return explained(op, args, launch(*plan.rung, stream, **device, args, plan.rung_plan, workspace));
}

Status run_rung(const OperatorDescriptor& op, const RungRow& rung, Context& context, ArgsRef args) {
  const DeviceProperties& device = context.properties();
  const auto run_it = [&]() -> Status {
    if (op.check) ROOFTILE_TRY(op.check(args, device.device));
    if (writes_nothing(op, args)) return {};
    ROOFTILE_TRY(check_serves(rung, args, device));
    return launch_in(context, rung, args, plan_rung(rung, args, device));
  };
  return explained(op, args, run_it());
}

}  // namespace rooftile
