#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_registers/access_registers.h"
#include "rooftile/lessons/access_registers/rungs.h"

namespace rooftile {
namespace {

constexpr std::int64_t kRows = 64;

Status check(const AccessRegistersArgs& args) {
  const Status status = [&]() -> Status {
    ROOFTILE_TRY(check_dense_pair(args.x, args.y, DType::f32));
    if (args.x.rank() != 2 || args.x.shape[0] != kRows)
      return invalid_argument("x must have 64 rows and n columns");
    if (!(args.x.shape == args.y.shape)) return invalid_argument("y must have the shape of x");
    return {};
  }();
  return status.with_operator("access_registers").with_shapes(describe_pair(args.x, args.y));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params&) {
  const AccessRegistersArgs args{.x = tensors[0], .y = tensors[1]};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

std::string choose(const AnyArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "register_array";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_registers";
  op.summary = "a thread keeps 64 numbers: in registers, spilled, or in local memory";
  op.maths = "y[k, j] = x[k, j] - max over k of x[k, j].";
  op.model =
      "reads and writes 64 * n * 4 bytes, 128 operations per column. A thread that keeps its column reads it "
      "once; 64 numbers need some 80 registers, so that an SM holds 3 blocks of 256 threads.";
  op.source = "CUDA C++ Programming Guide, launch bounds";
  op.slots = {{.name = "x",
               .direction = SlotDirection::in,
               .min_rank = 2,
               .max_rank = 2,
               .dtypes = {DType::f32},
               .doc = "[64, n], row-major"},
              {.name = "y", .direction = SlotDirection::out, .dtypes = {DType::f32}, .doc = "[64, n]"}};
  op.make_args = make_args;
  op.infer_outputs = infer_like_first;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "One loop: the definition.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(access_registers, AccessRegistersArgs, serial)},
      {.id = "two_passes",
       .idea = "The column is read for its largest number, and again for the differences.",
       .change = "the start of the GPU climb",
       .launch = ROOFTILE_GPU_LAUNCHES(access_registers, AccessRegistersArgs, two_passes),
       .expects = {{"bytes_moved_over_needed", 1.49, 1.5}, {"global_load_sectors_per_request", 4, 4}}},
      {.id = "register_array",
       .idea = "An array whose every index is known when it is compiled lies in registers.",
       .change = "the column is kept: it is read once",
       .launch = ROOFTILE_GPU_LAUNCHES(access_registers, AccessRegistersArgs, register_array),
       .expects = {{"bytes_moved_over_needed", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
      {.id = "tight_launch_bounds",
       .idea =
           "A promise of 6 blocks per SM leaves 40 registers per thread: the rest spills to local memory.",
       .change = "__launch_bounds__(256, 6), nothing else",
       .source = "CUDA C++ Programming Guide, launch bounds",
       .arch = {.minimum = 80},
       .launch = ROOFTILE_GPU_LAUNCHES(access_registers, AccessRegistersArgs, tight_launch_bounds),
       .expects = {{"bytes_moved_over_needed", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
      {.id = "indexed_array",
       .idea = "An index that is known only when it runs: registers have none, so the array lies in local "
               "memory.",
       .change = "the maximum starts at a row that the caller names",
       .source = "CUDA C++ Programming Guide, local memory",
       .launch = ROOFTILE_GPU_LAUNCHES(access_registers, AccessRegistersArgs, indexed_array),
       .expects = {{"bytes_moved_over_needed", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_registers_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_registers(Context& context, const AccessRegistersArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_registers_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_registers_workspace(const AccessRegistersArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_registers_operator(), AnyArgs::of(args), *properties);
}

Status access_registers(StreamRef stream, const AccessRegistersArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_registers_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_registers(Registry& registry) { registry.add(access_registers_operator()); }

}  // namespace rooftile
