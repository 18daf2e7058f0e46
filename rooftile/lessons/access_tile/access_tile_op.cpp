#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_tile/access_tile.h"
#include "rooftile/lessons/access_tile/rungs.h"

namespace rooftile {
namespace {

Status check(const AccessTileArgs& args) {
  const Status status = [&]() -> Status {
    ROOFTILE_TRY(check_dense_pair(args.x, args.y, DType::f32));
    if (args.x.rank() != 2) return invalid_argument("x must have two dimensions");
    if (!(args.x.shape == args.y.shape)) return invalid_argument("y must have the shape of x");
    return {};
  }();
  return status.with_operator("access_tile").with_shapes(describe_pair(args.x, args.y));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params&) {
  const AccessTileArgs args{.x = tensors[0], .y = tensors[1]};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

std::string choose(const AnyArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "block_32x8";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_tile";
  op.summary = "a copy of a matrix: which shape of a thread block covers it best";
  op.maths = "y[i, j] = x[i, j].";
  op.model =
      "reads and writes m * n * 4 bytes. A warp of a 32 x 8 block covers 128 bytes of one row, of a 16 x 16 "
      "block 64 bytes of two rows, of an 8 x 32 block 32 bytes of four: where rows do not begin at a "
      "multiple of 32 bytes, every piece touches one sector more.";
  op.source = "CUDA C++ Best Practices Guide, Coalesced Access to Global Memory";
  op.slots = {{.name = "x",
               .direction = SlotDirection::in,
               .min_rank = 2,
               .max_rank = 2,
               .dtypes = {DType::f32},
               .doc = "[m, n], row-major"},
              {.name = "y", .direction = SlotDirection::out, .dtypes = {DType::f32}, .doc = "[m, n]"}};
  op.make_args = make_args;
  op.infer_outputs = infer_like_first;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "Two loops in one: rows without gaps are one stretch.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(access_tile, AccessTileArgs, serial)},
      {.id = "lanes_along_columns",
       .idea = "Lanes go down a column, as loops written for a CPU that number rows by the first index do.",
       .change = "the start of the GPU climb: threadIdx.x counts rows",
       .launch = ROOFTILE_GPU_LAUNCHES(access_tile, AccessTileArgs, lanes_along_columns),
       .expects = {{"global_load_sectors_per_request", 29, 32},
                   {"global_store_sectors_per_request", 29, 32}}},
      {.id = "block_8x32",
       .idea = "Lanes along rows, eight of them: a warp covers four rows, 32 bytes of each.",
       .change = "threadIdx.x counts columns",
       .launch = ROOFTILE_GPU_LAUNCHES(access_tile, AccessTileArgs, block_8x32),
       .expects = {{"global_load_sectors_per_request", 6.5, 7.5}}},
      {.id = "block_16x16",
       .idea = "Sixteen lanes along a row: 64 bytes of two rows.",
       .change = "the block is wider and lower",
       .launch = ROOFTILE_GPU_LAUNCHES(access_tile, AccessTileArgs, block_16x16),
       .expects = {{"global_load_sectors_per_request", 5, 5.75}}},
      {.id = "block_32x8",
       .idea = "A whole warp along a row: one piece of 128 bytes, one sector too many at most.",
       .change = "the block is as wide as a warp",
       .launch = ROOFTILE_GPU_LAUNCHES(access_tile, AccessTileArgs, block_32x8),
       .expects = {{"global_load_sectors_per_request", 4.3, 4.875}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_tile_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_tile(Context& context, const AccessTileArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_tile_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_tile_workspace(const AccessTileArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_tile_operator(), AnyArgs::of(args), *properties);
}

Status access_tile(StreamRef stream, const AccessTileArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_tile_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_tile(Registry& registry) { registry.add(access_tile_operator()); }

}  // namespace rooftile
