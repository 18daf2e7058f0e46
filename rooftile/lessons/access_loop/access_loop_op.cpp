#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_loop/access_loop.h"
#include "rooftile/lessons/access_loop/rungs.h"

namespace rooftile {
namespace {

Status check(const AccessLoopArgs& args) {
  return check_dense_alike(args.x, args.y, DType::f32)
      .with_operator("access_loop")
      .with_shapes(describe_pair(args.x, args.y));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params&) {
  const AccessLoopArgs args{.x = tensors[0], .y = tensors[1]};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

std::string choose(const AnyArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "trips_per_warp_shared";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_loop";
  op.summary = "the i-th element takes i % 32 steps: what loops of different length cost a warp";
  op.maths = "y[i] = x[i] after i % 32 times v = (v + 1) / (2 + |v|).";
  op.model =
      "reads and writes n * 4 bytes; 15.5 steps of 3 operations per element on average. A warp loops as long "
      "as its longest lane: 31 steps where its lanes are neighbours, with 16 lanes at work on average.";
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
       .launch = ROOFTILE_CPU_LAUNCHES(access_loop, AccessLoopArgs, serial)},
      {.id = "trips_per_lane",
       .idea =
           "The definition: every lane of a warp has another number of steps, and all wait for the longest.",
       .change = "the start of the GPU climb",
       .source = "GPU MODE, lecture 4",
       .launch = ROOFTILE_GPU_LAUNCHES(access_loop, AccessLoopArgs, trips_per_lane),
       .expects = {{"active_lanes_per_basic_block", 16, 19}, {"global_load_sectors_per_request", 4, 4}}},
      {.id = "trips_per_warp_strided",
       .idea = "A warp takes the elements of one number of steps, 32 apart.",
       .change = "which thread takes which element; every access now touches 32 sectors",
       .launch = ROOFTILE_GPU_LAUNCHES(access_loop, AccessLoopArgs, trips_per_warp_strided),
       .expects = {{"active_lanes_per_basic_block", 31.5, 32}, {"global_load_sectors_per_request", 32, 32}}},
      {.id = "trips_per_warp_shared",
       .idea = "A padded tile in shared memory turns the elements: neighbours for the memory, equals for the "
               "warp.",
       .change = "1024 elements of a block go through shared memory, twice",
       .launch = ROOFTILE_GPU_LAUNCHES(access_loop, AccessLoopArgs, trips_per_warp_shared),
       .expects = {{"active_lanes_per_basic_block", 31, 32},
                   {"bytes_moved_over_needed", 1, 1},
                   {"shared_load_conflict_degree", 1, 1},
                   {"shared_store_conflict_degree", 1, 1}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_loop_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_loop(Context& context, const AccessLoopArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_loop_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_loop_workspace(const AccessLoopArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_loop_operator(), AnyArgs::of(args), *properties);
}

Status access_loop(StreamRef stream, const AccessLoopArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_loop_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_loop(Registry& registry) { registry.add(access_loop_operator()); }

}  // namespace rooftile
