#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_count/access_count.h"
#include "rooftile/lessons/access_count/rungs.h"

namespace rooftile {
namespace {

Status check(const AccessCountArgs& args) {
  const Status status = [&]() -> Status {
    ROOFTILE_TRY(check_dense_pair(args.x, args.y, DType::i32));
    if (args.y.numel() != 1) return invalid_argument("y must hold one element");
    return {};
  }();
  return status.with_operator("access_count").with_shapes(describe_pair(args.x, args.y));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params&) {
  const AccessCountArgs args{.x = tensors[0], .y = tensors[1]};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

Result<std::vector<TensorSpec>> infer_outputs(std::span<const TensorSpec>, const Params&) {
  return std::vector<TensorSpec>{{DType::i32, Extents{}}};
}

std::string choose(const AnyArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "atomic_per_block";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_count";
  op.summary = "all threads add to one number: the race, and what its cures cost";
  op.maths = "y = the sum of x, modulo 2^32.";
  op.model =
      "reads n * 4 bytes. Atomics on one address are served one after the other: what counts is how many "
      "there are.";
  op.source = "the definition";
  op.slots = {
      {.name = "x", .direction = SlotDirection::in, .dtypes = {DType::i32}, .doc = "any shape, row-major"},
      {.name = "y", .direction = SlotDirection::out, .dtypes = {DType::i32}, .doc = "one element"}};
  op.make_args = make_args;
  op.infer_outputs = infer_outputs;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "One loop: the definition.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(access_count, AccessCountArgs, serial)},
      {.id = "unguarded",
       .idea = "Every thread adds to the total as if it were alone.",
       .change = "the start of the GPU climb, and a mistake: all read the same old total, and one of the new "
                 "ones stays",
       .source = "256 threads that add 3: 3 in place of 768",
       .launch = ROOFTILE_GPU_LAUNCHES(access_count, AccessCountArgs, unguarded),
       .expects = {{"global_load_sectors_per_request", 1, 4}},
       .wrong_on_purpose =
           "a race: threads read, add and write back one number, and most additions are lost"},
      {.id = "atomic_per_thread",
       .idea = "One indivisible addition per thread: right, and one after the other.",
       .change = "atomicAdd in place of a load, an addition and a store",
       .launch = ROOFTILE_GPU_LAUNCHES(access_count, AccessCountArgs, atomic_per_thread),
       .expects = {{"atomic_lanes_per_address", 30, 32}, {"global_load_sectors_per_request", 4, 4}}},
      {.id = "atomic_per_warp",
       .idea = "The lanes add up in registers first: one atomic for 32 elements.",
       .change = "a warp reduction before the atomic",
       .launch = ROOFTILE_GPU_LAUNCHES(access_count, AccessCountArgs, atomic_per_warp),
       .expects = {{"atomic_lanes_per_address", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
      {.id = "atomic_per_block",
       .idea = "A block adds up what it can, many elements per thread: as many atomics as blocks.",
       .change = "a loop per thread, and a block reduction before the atomic",
       .launch = ROOFTILE_GPU_LAUNCHES(access_count, AccessCountArgs, atomic_per_block),
       .expects = {{"atomic_lanes_per_address", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_count_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_count(Context& context, const AccessCountArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_count_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_count_workspace(const AccessCountArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_count_operator(), AnyArgs::of(args), *properties);
}

Status access_count(StreamRef stream, const AccessCountArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_count_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_count(Registry& registry) { registry.add(access_count_operator()); }

}  // namespace rooftile
