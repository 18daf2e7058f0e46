#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"
#include "rooftile/lessons/access_neighbors/rungs.h"

namespace rooftile {
namespace {

constexpr std::int64_t kLanes = 32;

// Precondition: rank 3.
Extents shape_of_y(const Extents& x) { return {x[0], x[1], x[2], kLanes}; }

std::string supports_vectors(const AccessNeighborsArgs& args, const DeviceProperties&) {
  return reinterpret_cast<std::uintptr_t>(args.y.data) % 16 == 0
             ? ""
             : "needs y aligned to 16 bytes: see turned_stores";
}

Status check(const AccessNeighborsArgs& args) {
  const Status status = [&]() -> Status {
    ROOFTILE_TRY(check_dense_pair(args.x, args.y, DType::f32));
    if (args.x.rank() != 3) return invalid_argument("x must have three dimensions");
    if (args.y.rank() != 4 || !(args.y.shape == shape_of_y(args.x.shape))) {
      return invalid_argument("y must have the shape of x and 32 lanes, " +
                              shape_of_y(args.x.shape).to_string());
    }
    return {};
  }();
  return status.with_operator("access_neighbors").with_shapes(describe_pair(args.x, args.y));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params&) {
  const AccessNeighborsArgs args{.x = tensors[0], .y = tensors[1]};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

Result<std::vector<TensorSpec>> infer_outputs(std::span<const TensorSpec> inputs, const Params&) {
  if (inputs[0].shape.rank() != 3)
    return invalid_argument("x must have three dimensions").with_operator("access_neighbors");
  return std::vector<TensorSpec>{{DType::f32, shape_of_y(inputs[0].shape)}};
}

std::string choose(const AnyArgs& any, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "serial";
  return supports_vectors(any.as<AccessNeighborsArgs>(), device).empty() ? "vector_stores" : "turned_stores";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_neighbors";
  op.summary = "what the 32 lanes of a warp of an 8 x 8 x 8 block see of a volume";
  op.maths = "y[z, i, j, l] = x[z, 4 * (i / 4) + l / 8, 8 * (j / 8) + l % 8], and 0 outside of x.";
  op.model = "reads 4 and writes 128 bytes per point: the stores decide.";
  op.source = "GPU MODE, lecture 4";
  op.slots = {{.name = "x",
               .direction = SlotDirection::in,
               .min_rank = 3,
               .max_rank = 3,
               .dtypes = {DType::f32},
               .doc = "[d, m, n], row-major"},
              {.name = "y",
               .direction = SlotDirection::out,
               .min_rank = 4,
               .max_rank = 4,
               .dtypes = {DType::f32},
               .doc = "[d, m, n, 32]"}};
  op.make_args = make_args;
  op.infer_outputs = infer_outputs;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "One loop: the definition.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(access_neighbors, AccessNeighborsArgs, serial)},
      {.id = "loads_by_lane",
       .idea = "Each thread loads its 32 neighbours itself, one by one: all lanes ask for the same word.",
       .change = "the start of the GPU climb",
       .source = "GPU MODE, lecture 4",
       .launch = ROOFTILE_GPU_LAUNCHES(access_neighbors, AccessNeighborsArgs, loads_by_lane),
       .expects = {{"global_load_sectors_per_request", 1, 1}, {"global_store_sectors_per_request", 32, 32}}},
      {.id = "shuffles",
       .idea = "A thread loads its own point; the neighbours come from the registers of the other lanes.",
       .change = "one load and 32 shuffles in place of 32 loads",
       .source = "GPU MODE, lecture 4",
       .launch = ROOFTILE_GPU_LAUNCHES(access_neighbors, AccessNeighborsArgs, shuffles),
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 32, 32}}},
      {.id = "turned_stores",
       .idea = "The 32 neighbours of a point are what the warp holds: together the lanes store one point "
               "after the other.",
       .change = "lanes along the neighbours in place of the points; no shuffle is left",
       .launch = ROOFTILE_GPU_LAUNCHES(access_neighbors, AccessNeighborsArgs, turned_stores),
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 4, 4}}},
      {.id = "vector_stores",
       .idea = "A lane keeps four neighbours, the same four of every point that it stores.",
       .change = "4 shuffles and 8 stores of 16 bytes in place of 32 stores",
       .supports = erase<AccessNeighborsArgs>(&supports_vectors),
       .launch = ROOFTILE_GPU_LAUNCHES(access_neighbors, AccessNeighborsArgs, vector_stores),
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 16, 16}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_neighbors_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_neighbors(Context& context, const AccessNeighborsArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_neighbors_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_neighbors_workspace(const AccessNeighborsArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_neighbors_operator(), AnyArgs::of(args), *properties);
}

Status access_neighbors(StreamRef stream, const AccessNeighborsArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_neighbors_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_neighbors(Registry& registry) { registry.add(access_neighbors_operator()); }

}  // namespace rooftile
