#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_branch/access_branch.h"
#include "rooftile/lessons/access_branch/rungs.h"

namespace rooftile {
namespace {

std::string supports_pairs(const AccessBranchArgs& args, const DeviceProperties&) {
  const auto bits =
      reinterpret_cast<std::uintptr_t>(args.x.data) | reinterpret_cast<std::uintptr_t>(args.y.data);
  return bits % 8 == 0 ? "" : "needs x and y aligned to 8 bytes: see branch_per_warp";
}

Status check(const AccessBranchArgs& args) {
  return check_dense_alike(args.x, args.y, DType::f32)
      .with_operator("access_branch")
      .with_shapes(describe_pair(args.x, args.y));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params&) {
  const AccessBranchArgs args{.x = tensors[0], .y = tensors[1]};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

std::string choose(const AnyArgs& any, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "serial";
  return supports_pairs(any.as<AccessBranchArgs>(), device).empty() ? "pair_per_thread" : "branch_per_warp";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_branch";
  op.summary = "even and odd elements go different ways: what a branch inside of a warp costs";
  op.maths = "i even: y = 32 times v = fma(v, 1/2, 1/4) from x; i odd: 32 times v = (v + 1) / (2 + |v|).";
  op.model =
      "reads and writes n * 4 bytes; 64 or 96 operations per element, a multiply-add being two. A warp whose "
      "lanes disagree runs both "
      "ways one after the other, each with the other lanes switched off.";
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
       .launch = ROOFTILE_CPU_LAUNCHES(access_branch, AccessBranchArgs, serial)},
      {.id = "branch_per_lane",
       .idea = "The definition: neighbouring lanes go different ways.",
       .change = "the start of the GPU climb",
       .source = "GPU MODE, lecture 4",
       .launch = ROOFTILE_GPU_LAUNCHES(access_branch, AccessBranchArgs, branch_per_lane),
       .expects = {{"active_lanes_per_basic_block", 16, 20}, {"global_load_sectors_per_request", 4, 4}}},
      {.id = "branch_per_warp",
       .idea = "Warps in place of lanes disagree: one takes the even elements of a stretch, the next the odd "
               "ones.",
       .change = "which thread takes which element; loads and stores now skip every second word",
       .launch = ROOFTILE_GPU_LAUNCHES(access_branch, AccessBranchArgs, branch_per_warp),
       .expects = {{"active_lanes_per_basic_block", 31.5, 32}, {"global_load_sectors_per_request", 8, 8}}},
      {.id = "both_ways_and_select",
       .idea = "No branch at all: every lane computes both and keeps one.",
       .change = "twice the arithmetic in place of a branch; accesses side by side again",
       .launch = ROOFTILE_GPU_LAUNCHES(access_branch, AccessBranchArgs, both_ways_and_select),
       .expects = {{"active_lanes_per_basic_block", 31.5, 32}, {"global_load_sectors_per_request", 4, 4}}},
      {.id = "pair_per_thread",
       .idea =
           "A thread takes an even element and the odd one after it, and goes both ways for its own sake.",
       .change =
           "two elements per thread, by one 8-byte access: no lane waits and nothing is computed in vain",
       .supports = erase<AccessBranchArgs>(&supports_pairs),
       .launch = ROOFTILE_GPU_LAUNCHES(access_branch, AccessBranchArgs, pair_per_thread),
       .expects = {{"active_lanes_per_basic_block", 31.5, 32}, {"global_load_sectors_per_request", 8, 8}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_branch_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_branch(Context& context, const AccessBranchArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_branch_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_branch_workspace(const AccessBranchArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_branch_operator(), AnyArgs::of(args), *properties);
}

Status access_branch(StreamRef stream, const AccessBranchArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_branch_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_branch(Registry& registry) { registry.add(access_branch_operator()); }

}  // namespace rooftile
