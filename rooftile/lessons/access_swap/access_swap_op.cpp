#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_swap/access_swap.h"
#include "rooftile/lessons/access_swap/rungs.h"

namespace rooftile {
namespace {

Status check(const AccessSwapArgs& args) {
  return check_dense_alike(args.x, args.y, DType::f32)
      .with_operator("access_swap")
      .with_shapes(describe_pair(args.x, args.y));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params&) {
  const AccessSwapArgs args{.x = tensors[0], .y = tensors[1]};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

std::string choose(const AnyArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "exchange_by_shuffle";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_swap";
  op.summary = "the halves of a warp exchange values: who waits for whom after a branch";
  op.maths = "i % 32 < 16: y[i] = x[i + 16] + 1; else y[i] = 2 * x[i - 16]; behind its end x is 0.";
  op.model =
      "reads and writes n * 4 bytes. Since Volta the lanes of a warp may go on one by one: what one lane "
      "hands to another through memory needs __syncwarp() between.";
  op.source = "GPU MODE, lecture 4";
  op.slots = {
      {.name = "x", .direction = SlotDirection::in, .dtypes = {DType::f32}, .doc = "any shape, row-major"},
      {.name = "y", .direction = SlotDirection::out, .dtypes = {DType::f32}, .doc = "the shape of x"}};
  op.make_args = make_args;
  op.infer_outputs = infer_like_first;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "One loop: the definition.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(access_swap, AccessSwapArgs, serial)},
      {.id = "missing_syncwarp",
       .idea = "Each half writes to shared memory in its own branch, then reads what the other wrote.",
       .change = "the start of the GPU climb, and a mistake: nothing orders the two branches",
       .source = "code for GPUs before Volta",
       .launch = ROOFTILE_GPU_LAUNCHES(access_swap, AccessSwapArgs, missing_syncwarp),
       .expects = {{"global_load_sectors_per_request", 4, 4}},
       .wrong_on_purpose = "a race: a lane reads what the other half writes, with no __syncwarp() between"},
      {.id = "syncwarp",
       .idea = "The lanes meet before they read.",
       .change = "__syncwarp() after the branches",
       .source = "GPU MODE, lecture 4",
       .launch = ROOFTILE_GPU_LAUNCHES(access_swap, AccessSwapArgs, syncwarp),
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
      {.id = "exchange_by_shuffle",
       .idea = "The value goes from register to register: nothing to order.",
       .change = "a shuffle in place of shared memory",
       .launch = ROOFTILE_GPU_LAUNCHES(access_swap, AccessSwapArgs, exchange_by_shuffle),
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 4, 4}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_swap_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_swap(Context& context, const AccessSwapArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_swap_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_swap_workspace(const AccessSwapArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_swap_operator(), AnyArgs::of(args), *properties);
}

Status access_swap(StreamRef stream, const AccessSwapArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_swap_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_swap(Registry& registry) { registry.add(access_swap_operator()); }

}  // namespace rooftile
