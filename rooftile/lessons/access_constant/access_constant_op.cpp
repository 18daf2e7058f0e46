#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_constant/access_constant.h"
#include "rooftile/lessons/access_constant/access_constant_table.h"
#include "rooftile/lessons/access_constant/rungs.h"

namespace rooftile {
namespace {

WorkspaceSpec table_workspace(const AccessConstantArgs&, const DeviceProperties&) {
  return {.bytes = kTableSize * sizeof(float)};
}

Status check(const AccessConstantArgs& args) {
  return check_dense_alike(args.x, args.y, DType::f32)
      .with_operator("access_constant")
      .with_shapes(describe_pair(args.x, args.y) +
                   ", index=" + (args.index == ConstantIndex::uniform ? "uniform" : "lane"));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params& params) {
  const AccessConstantArgs args{
      .x = tensors[0],
      .y = tensors[1],
      .index = params.get_string("index") == "uniform" ? ConstantIndex::uniform : ConstantIndex::lane};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

std::string choose(const AnyArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "shared_table";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_constant";
  op.summary = "a table of 64 numbers, read at one index by all lanes of a warp or by each at its own";
  op.maths =
      "acc = fma(acc, x[i], table[(first + r) % 64]) for r = 0 ... 63; table[k] = 1 / (k + 1); first = i / "
      "32 (uniform) or i (lane).";
  op.model =
      "reads and writes n * 4 bytes, 64 multiply-adds and 64 table look-ups per element. Constant memory "
      "serves one word per pass: one pass for a uniform index, 32 where every lane has its own.";
  op.source = "CUDA C++ Best Practices Guide, constant memory";
  op.slots = {
      {.name = "x", .direction = SlotDirection::in, .dtypes = {DType::f32}, .doc = "any shape, row-major"},
      {.name = "y", .direction = SlotDirection::out, .dtypes = {DType::f32}, .doc = "the shape of x"}};
  op.params = {{.name = "index",
                .default_value = std::string("uniform"),
                .doc = "one entry for the lanes of a warp, or each its own",
                .choices = {"uniform", "lane"}}};
  op.make_args = make_args;
  op.infer_outputs = infer_like_first;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "One loop: the definition.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(access_constant, AccessConstantArgs, serial)},
      {.id = "constant_memory",
       .idea = "The table lies in constant memory: a word that all lanes want comes at once, from a cache of "
               "its own.",
       .change = "the start of the GPU climb",
       .source = "CUDA C++ Programming Guide, __constant__",
       .launch = ROOFTILE_GPU_LAUNCHES(access_constant, AccessConstantArgs, constant_memory),
       .expects = {{"constant_load_words_per_request", 1, 1}}},
      {.id = "kernel_argument",
       .idea = "The table is passed by value: arguments lie in constant memory, too.",
       .change = "a structure of 256 bytes as an argument in place of a variable",
       .source = "CUDA C++ Programming Guide, __grid_constant__",
       .launch = ROOFTILE_GPU_LAUNCHES(access_constant, AccessConstantArgs, kernel_argument),
       .expects = {{"global_load_sectors_per_request", 4, 4}}},
      {.id = "global_table",
       .idea = "The table lies in global memory, and L1 serves it: one sector for one word, or four for 32 "
               "words side by side.",
       .change = "global memory in place of constant memory",
       .workspace = erase<AccessConstantArgs>(&table_workspace),
       .launch = ROOFTILE_GPU_LAUNCHES(access_constant, AccessConstantArgs, global_table),
       .expects = {{"global_load_sectors_per_request", 1, 1.1}}},
      {.id = "shared_table",
       .idea = "Each block takes a copy into shared memory: one word for all lanes or one word of each bank, "
               "one pass either way.",
       .change = "shared memory in place of L1, and a barrier",
       .launch = ROOFTILE_GPU_LAUNCHES(access_constant, AccessConstantArgs, shared_table),
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_constant_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_constant(Context& context, const AccessConstantArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_constant_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_constant_workspace(const AccessConstantArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_constant_operator(), AnyArgs::of(args), *properties);
}

Status access_constant(StreamRef stream, const AccessConstantArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_constant_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_constant(Registry& registry) { registry.add(access_constant_operator()); }

}  // namespace rooftile
