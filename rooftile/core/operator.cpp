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
std::string unserved_reason(const RungRow& rung, const AnyArgs& args, const DeviceProperties& device) {
  if (!rung.wrong_on_purpose.empty()) return "wrong on purpose: " + rung.wrong_on_purpose;
  return rung.supports ? rung.supports(args, device) : "";
}

// The rung that this call takes, checked to serve it.
Result<const RungRow*> chosen_rung(const OperatorDescriptor& op, const AnyArgs& args,
                                   const DeviceProperties& device) {
  const std::string id = op.choose ? op.choose(args, device) : "";
  if (id.empty())
    return unsupported("no rung serves this call on " + to_string(device.device)).with_operator(op.name);
  const RungRow* rung = op.find_rung(id);
  if (rung == nullptr) {
    return internal_error("choose() names the rung " + id + ", which is not in the table")
        .with_operator(op.name);
  }
  return rung;
}

Status check_serves(const OperatorDescriptor& op, const RungRow& rung, const AnyArgs& args,
                    const DeviceProperties& device) {
  const std::string where = rung.id + " on " + to_string(device.device) + ": ";
  if (const std::string reason = unavailable_reason(rung, device); !reason.empty()) {
    return unavailable(where + reason).with_operator(op.name);
  }
  const std::string reason = unserved_reason(rung, args, device);
  return reason.empty() ? Status() : unsupported(where + reason).with_operator(op.name);
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

// The rung is known to serve the call.
Status launch(const OperatorDescriptor& op, const RungRow& rung, StreamRef stream,
              const DeviceProperties& device, const AnyArgs& args, const Workspace& workspace) {
  return launch_for(rung, device.device.kind)(stream, device, args, workspace).with_operator(op.name);
}

}  // namespace

const RungRow* OperatorDescriptor::find_rung(std::string_view id) const {
  for (const RungRow& rung : rungs) {
    if (rung.id == id) return &rung;
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
  if (rung.kind == RungKind::cpu && kind != DeviceKind::cpu) return "a CPU rung";
  if (rung.kind == RungKind::gpu && kind == DeviceKind::cpu) return "a GPU rung";
  if (!launch_for(rung, kind)) return not_built_reason(kind);
  return rung.kind == RungKind::gpu ? arch_reason(rung.arch, device.compute_capability) : "";
}

std::string unsupported_reason(const RungRow& rung, const AnyArgs& args, const DeviceProperties& device) {
  std::string reason = unavailable_reason(rung, device);
  return reason.empty() ? unserved_reason(rung, args, device) : reason;
}

WorkspaceSpec workspace_for(const RungRow& rung, const AnyArgs& args, const DeviceProperties& device) {
  return rung.workspace ? rung.workspace(args, device) : WorkspaceSpec{};
}

Result<WorkspaceSpec> chosen_workspace(const OperatorDescriptor& op, const AnyArgs& args,
                                       const DeviceProperties& device) {
  ROOFTILE_TRY_ASSIGN(const RungRow* rung, chosen_rung(op, args, device));
  ROOFTILE_TRY(check_serves(op, *rung, args, device));
  return workspace_for(*rung, args, device);
}

Status run_chosen(const OperatorDescriptor& op, Context& context, const AnyArgs& args) {
  ROOFTILE_TRY_ASSIGN(const RungRow* rung, chosen_rung(op, args, context.properties()));
  return run_rung(op, *rung, context, args);
}

Status run_chosen(const OperatorDescriptor& op, StreamRef stream, const AnyArgs& args,
                  const Workspace& workspace) {
  const Result<const DeviceProperties*> device = device_properties(stream.device);
  if (!device.ok()) return device.status().with_operator(op.name);
  ROOFTILE_TRY_ASSIGN(const RungRow* rung, chosen_rung(op, args, **device));
  ROOFTILE_TRY(check_serves(op, *rung, args, **device));
  ROOFTILE_TRY(check_workspace(workspace, workspace_for(*rung, args, **device)).with_operator(op.name));
  return launch(op, *rung, stream, **device, args, workspace);
}

Status run_rung(const OperatorDescriptor& op, const RungRow& rung, Context& context, const AnyArgs& args) {
  const DeviceProperties& device = context.properties();
  ROOFTILE_TRY(check_serves(op, rung, args, device));
  const Result<Workspace> workspace = context.workspace(workspace_for(rung, args, device));
  if (!workspace.ok()) return workspace.status().with_operator(op.name);
  const Status status = launch(op, rung, context.stream(), device, args, *workspace);
  // A call that failed between two launches may have left the zeroed part dirty for the next one.
  if (!status.ok()) (void)context.discard_workspace();
  return status;
}

}  // namespace rooftile
