#include "rooftile/core/operator.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "rooftile/core/detail/context_impl.h"
#include "rooftile/core/detail/guarded.h"
#include "rooftile/core/memory.h"

namespace rooftile {
namespace {

using detail::CallPlan;

std::string arch_name(int compute_capability) { return "sm_" + std::to_string(compute_capability); }

bool meets(const ArchNeed& need, int compute_capability) {
  return need.exact ? compute_capability == need.minimum : compute_capability >= need.minimum;
}

std::string not_built_reason(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cuda:
      return "not built into this program for cuda (configure with a CUDA toolkit)";
    case DeviceKind::sim:
      return "not built into this program for sim (link rooftile::sim)";
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

Status no_rung(std::string_view id, const DeviceProperties& device) {
  if (id.empty()) return unsupported("no rung serves this call on " + to_string(device.device));
  return internal_error("choose() names the rung " + std::string(id) + ", which is not in the table");
}

// Empty reasons allocate nothing.
Status check_serves(const RungRow& rung, ArgsRef args, const DeviceProperties& device) {
  const auto where = [&] { return rung.id + " on " + to_string(device.device) + ": "; };
  if (const std::string reason = unavailable_reason(rung, device); !reason.empty())
    return unavailable(where() + reason);
  const std::string reason = unserved_reason(rung, args, device);
  return reason.empty() ? Status() : unsupported(where() + reason);
}

// Not in launch_for, where every call would ask whether it was made.
const LaunchFn kNoLaunch;

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

// True only where check_serves is ok; makes no text. `launch` is the rung's on this device.
bool surely_serves(const RungRow& rung, const LaunchFn& launch, ArgsRef args,
                   const DeviceProperties& device) {
  return launch && !rung.absent && rung.wrong_on_purpose.empty() &&
         (rung.kind == RungKind::cpu || meets(rung.arch, device.compute_capability)) &&
         (!rung.supports || rung.supports(args, device).empty());
}

// Plans a rung that is known.
Status plan_with(const RungRow& rung, ArgsRef args, const DeviceProperties& device, CallPlan& plan) {
  plan.launch = &launch_for(rung, device.device.kind);
  if (!surely_serves(rung, *plan.launch, args, device)) ROOFTILE_TRY(check_serves(rung, args, device));
  if (rung.plan) plan.rung_plan = rung.plan(args, device);
  return {};
}

Status launch_in(Context& context, const CallPlan& plan, ArgsRef args) {
  const Context::Impl& parts = ContextParts::of(context);
  Workspace workspace;
  if (plan.rung_plan.workspace.bytes > 0 || plan.rung_plan.workspace.zeroed_bytes > 0) {
    ROOFTILE_TRY_ASSIGN(workspace, context.workspace(plan.rung_plan.workspace));
  }
  workspace.error_word = parts.arena->error_word();
  Status status = (*plan.launch)({parts.arena->stream(), parts.properties, args, &plan.rung_plan, workspace});
  // A call that failed between two launches may have left the zeroed part dirty for the next one.
  if (!status.ok()) (void)context.discard_workspace();
  return status;
}

// An error with the operator's name, the call and the caller's line; nobody spells them out before there is one.
Status explained(const OperatorDescriptor& op, ArgsRef args, const Status& status, SourceLocation caller) {
  return status.with_operator(op.name).with_shapes(op.describe ? op.describe(args) : "").with_caller(caller);
}

const Status& status_of(const Status& status) { return status; }
template <class T>
const Status& status_of(const Result<T>& result) {
  return result.status();
}

// body() as the library's edge: no exception, and errors explained.
template <class Body>
auto at_edge(const OperatorRef& op, ArgsRef args, SourceLocation caller, Body&& body) noexcept {
  return detail::guarded([&]() -> decltype(body(op.get())) {
    const OperatorDescriptor& descriptor = op.get();
    auto outcome = body(descriptor);
    if (outcome.ok()) return outcome;
    return explained(descriptor, args, status_of(outcome), caller);
  });
}

// Internal, so that the compiler may inline them into the one path of all calls.
bool no_element_written(const OperatorDescriptor& op, const SlotViews& views) {
  bool nothing = !op.slots.empty();
  for (std::size_t i = 0; i < op.slots.size(); ++i) {
    const TensorSlot& slot = op.slots[i];
    if (is_written(slot))
      nothing = nothing && ((slot.optional && is_absent(views[i])) || views[i].numel() == 0);
  }
  return nothing;
}

// That of all tensors; `home` where they differ, or where there is none.
Device device_of_call(const OperatorDescriptor& op, const SlotViews& views, Device home) {
  bool seen = false;
  Device common = home;
  for (std::size_t i = 0; i < op.slots.size(); ++i) {
    if (is_absent(views[i])) continue;
    if (seen && views[i].device != common) return home;
    common = views[i].device;
    seen = true;
  }
  return common;
}

Status plan_chosen(const OperatorDescriptor& op, ArgsRef args, const DeviceProperties& device,
                   CallPlan& plan) {
  const std::string_view id = op.choose ? op.choose(args, device) : "";
  const RungRow* const rung = id.empty() ? nullptr : op.find_rung(id);
  return rung != nullptr ? plan_with(*rung, args, device, plan) : no_rung(id, device);
}

// Plans and launches a call that was checked; the Context remembers it.
Status run_checked(const OperatorDescriptor& op, Context& context, ArgsRef args) {
  Context::Impl& parts = ContextParts::of(context);
  CallPlan plan;
  ROOFTILE_TRY(plan_chosen(op, args, *parts.properties, plan));
  parts.last_call.keep(op, args, plan);
  return launch_in(context, plan, args);
}

bool is_ordinary(const OperatorDescriptor& op, const SlotViews& views, Device device) {
  return op.check && op.is_ordinary && op.is_ordinary(views, device);
}

Status run_anywhere(const OperatorDescriptor& op, Context& context, ArgsRef args) {
  if (!ContextParts::is_there(context)) return context.status();
  const ContextUse use(context);
  const Context::Impl& parts = ContextParts::of(context);
  if (parts.last_call.is(op, args)) {
    const CallPlan plan = parts.last_call.plan();
    return launch_in(context, plan, args);
  }
  const SlotViews views(op.slots, args);
  Context* serving = &context;
  Device on = parts.properties->device;
  if (is_ordinary(op, views, on)) {
    ROOFTILE_TRY(op.check(args, views, on, CallStage::ordinary));
    return run_checked(op, context, args);
  }
  if (const Device device = device_of_call(op, views, on); device != on) {
    // Where no Context serves that device, the check says which tensor is in the wrong place.
    if (const Result<Context*> other = context.serving(device); other.ok()) {
      serving = *other;
      on = device;
    }
  }
  if (op.check) ROOFTILE_TRY(op.check(args, views, on, CallStage::complete));
  return no_element_written(op, views) ? Status() : run_checked(op, *serving, args);
}

Status run_in_stream(const OperatorDescriptor& op, StreamRef stream, ArgsRef args,
                     const Workspace& workspace) {
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* device, device_properties(stream.device));
  const SlotViews views(op.slots, args);
  const CallStage stage = is_ordinary(op, views, stream.device) ? CallStage::ordinary : CallStage::complete;
  if (op.check) ROOFTILE_TRY(op.check(args, views, stream.device, stage));
  if (stage != CallStage::ordinary && no_element_written(op, views)) return {};
  CallPlan plan;
  ROOFTILE_TRY(plan_chosen(op, args, *device, plan));
  ROOFTILE_TRY(check_workspace(workspace, plan.rung_plan.workspace));
  return (*plan.launch)({stream, device, args, &plan.rung_plan, workspace});
}

// The largest workspace of the plans for every alignment that the tensors without memory may come to have: a plan may
// take another rung where a pointer is aligned to its element alone.
Result<WorkspaceSpec> plan_for_any_alignment(const OperatorDescriptor& op, ArgsRef args,
                                             const DeviceProperties& device) {
  std::vector<TensorView> tensors;
  std::vector<std::size_t> open;  // those whose address is not known
  for (const TensorSlot& slot : op.slots) {
    const ConstTensorView view = slot.view(args);
    if (view.data == nullptr && view.numel() > 0 && !is_absent(view)) open.push_back(tensors.size());
    tensors.push_back({const_cast<void*>(view.data), view.dtype, view.device, view.shape, view.strides});
  }
  const auto plan_once = [&](ArgsRef call) -> Result<WorkspaceSpec> {
    CallPlan plan;
    ROOFTILE_TRY(plan_chosen(op, call, device, plan));
    return plan.rung_plan.workspace;
  };
  if (open.empty()) return plan_once(args);
  // Each alone and all together; more would be 2^n plans.
  WorkspaceSpec most;
  for (std::size_t which = 0; which <= open.size() + 1; ++which) {
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool aligned = which == i || which == open.size();
      std::uintptr_t address = (std::uintptr_t{1} << 40) * (i + 1);
      if (!aligned) address += size_of(tensors[open[i]].dtype);
      tensors[open[i]].data = reinterpret_cast<void*>(address);
    }
    ROOFTILE_TRY_ASSIGN(const WorkspaceSpec spec, plan_once(op.with_tensors(args, tensors)));
    most.bytes = std::max(most.bytes, spec.bytes);
    most.zeroed_bytes = std::max(most.zeroed_bytes, spec.zeroed_bytes);
  }
  return most;
}

Result<WorkspaceSpec> workspace_without_memory(const OperatorDescriptor& op, ArgsRef args, Device device) {
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  const SlotViews views(op.slots, args);
  if (op.check) ROOFTILE_TRY(op.check(args, views, device, CallStage::no_memory));
  if (no_element_written(op, views)) return WorkspaceSpec{};
  return plan_for_any_alignment(op, args, *properties);
}

Status specs_of_outputs(const OperatorDescriptor& op, ArgsRef args, std::span<TensorSpec> specs) {
  const SlotViews views(op.slots, args);
  ROOFTILE_TRY(op.check(args, views, device_of_call(op, views, kCpu), CallStage::inputs_only));
  auto next = specs.begin();
  for (const TensorSlot& slot : op.slots) {
    if (slot.direction != SlotDirection::out || next == specs.end()) continue;
    ROOFTILE_TRY(slot.spec(args, *next++));
  }
  return {};
}

Status run_with_new_outputs(const OperatorDescriptor& op, Context& context, void* args, ArgsRef same_args,
                            std::span<Tensor> outputs) {
  ROOFTILE_TRY(context.status());
  const SlotViews views(op.slots, same_args);
  ROOFTILE_TRY_ASSIGN(Context * serving, context.serving(device_of_call(op, views, context.device())));
  ROOFTILE_TRY(op.check(same_args, views, serving->device(), CallStage::inputs_only));
  auto next = outputs.begin();
  for (const TensorSlot& slot : op.slots) {
    if (slot.direction != SlotDirection::out || next == outputs.end()) continue;
    TensorSpec spec;
    ROOFTILE_TRY(slot.spec(same_args, spec));
    ROOFTILE_TRY_ASSIGN(*next, Tensor::empty(*serving, spec.shape, spec.dtype));
    slot.set(args, next->view());
    ++next;
  }
  return run_anywhere(op, context, same_args);
}

}  // namespace

std::uint64_t DescriptorNumber::next() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

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
  if ((rung.kind == RungKind::cpu) != (kind == DeviceKind::cpu)) return kNoLaunch;
  switch (kind) {
    case DeviceKind::cuda:
      return rung.launch.cuda;
    case DeviceKind::sim:
      return rung.launch.sim;
    case DeviceKind::cpu:
      return rung.launch.cpu;
  }
  return kNoLaunch;
}

std::string arch_reason(const ArchNeed& need, int compute_capability) {
  if (meets(need, compute_capability)) return "";
  return "needs " + arch_name(need.minimum) + (need.exact ? "a" : " or newer") + ", this is " +
         arch_name(compute_capability);
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

SlotViews::SlotViews(const std::vector<TensorSlot>& slots, ArgsRef args) {
  const std::size_t count = std::min(slots.size(), kMost);
  for (std::size_t i = 0; i < count; ++i) ::new (&views_[i]) ConstTensorView(slots[i].view(args));
}

bool writes_nothing(const OperatorDescriptor& op, ArgsRef args) {
  return no_element_written(op, SlotViews(op.slots, args));
}

RungPlan plan_rung(const RungRow& rung, ArgsRef args, const DeviceProperties& device) {
  return rung.plan ? rung.plan(args, device) : RungPlan{};
}

Status run(OperatorRef op, Context& context, ArgsRef args, SourceLocation caller) {
  return at_edge(op, args, caller,
                 [&](const OperatorDescriptor& d) { return run_anywhere(d, context, args); });
}

Status run(OperatorRef op, StreamRef stream, ArgsRef args, const Workspace& workspace,
           SourceLocation caller) {
  return at_edge(op, args, caller,
                 [&](const OperatorDescriptor& d) { return run_in_stream(d, stream, args, workspace); });
}

Result<WorkspaceSpec> workspace_of(OperatorRef op, ArgsRef args, Device device, SourceLocation caller) {
  return at_edge(op, args, caller,
                 [&](const OperatorDescriptor& d) { return workspace_without_memory(d, args, device); });
}

Status output_specs(OperatorRef op, ArgsRef args, std::span<TensorSpec> specs, SourceLocation caller) {
  return at_edge(op, args, caller,
                 [&](const OperatorDescriptor& d) { return specs_of_outputs(d, args, specs); });
}

Status run_returning(OperatorRef op, Context& context, void* args, ArgsRef same_args,
                     std::span<Tensor> outputs, SourceLocation caller) {
  return at_edge(op, same_args, caller, [&](const OperatorDescriptor& d) {
    return run_with_new_outputs(d, context, args, same_args, outputs);
  });
}

Status run_rung(const OperatorDescriptor& op, const RungRow& rung, Context& context, ArgsRef args) {
  return at_edge(op, args, SourceLocation::current(), [&](const OperatorDescriptor& d) -> Status {
    ROOFTILE_TRY(context.status());
    const ContextUse use(context);
    const DeviceProperties& device = context.properties();
    const SlotViews views(d.slots, args);
    if (d.check) ROOFTILE_TRY(d.check(args, views, device.device, CallStage::complete));
    if (no_element_written(d, views)) return {};
    CallPlan plan;
    ROOFTILE_TRY(plan_with(rung, args, device, plan));
    return launch_in(context, plan, args);
  });
}

}  // namespace rooftile
