#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_object/access_object.h"
#include "rooftile/lessons/access_object/rungs.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostObjectBytes = 64;

WorkspaceSpec object_workspace(const AccessObjectArgs&, const DeviceProperties&) {
  return {.bytes = kMostObjectBytes};
}

Status check(const AccessObjectArgs& args) {
  return check_dense_alike(args.x, args.y, DType::f32)
      .with_operator("access_object")
      .with_shapes(describe_pair(args.x, args.y));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params& params) {
  const AccessObjectArgs args{.x = tensors[0],
                              .y = tensors[1],
                              .a = static_cast<float>(params.get_double("a")),
                              .b = static_cast<float>(params.get_double("b"))};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

std::string choose(const AnyArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "object_by_value";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_object";
  op.summary = "how a kernel gets an object of a class: by value, by pointer, with virtual functions";
  op.maths = "y[i] = fma(a, x[i], b).";
  op.model =
      "reads and writes n * 4 bytes. An object that is passed by value lies in constant memory, where an "
      "argument lies; one that is passed by pointer is loaded by every thread.";
  op.source = "CUDA C++ Programming Guide, C++ language support";
  op.slots = {
      {.name = "x", .direction = SlotDirection::in, .dtypes = {DType::f32}, .doc = "any shape, row-major"},
      {.name = "y", .direction = SlotDirection::out, .dtypes = {DType::f32}, .doc = "the shape of x"}};
  op.params = {{.name = "a",
                .default_value = 2.5,
                .doc = "the factor, rounded to f32",
                .choices = {},
                .minimum = -1e30,
                .maximum = 1e30},
               {.name = "b",
                .default_value = 0.5,
                .doc = "what is added, rounded to f32",
                .choices = {},
                .minimum = -1e30,
                .maximum = 1e30}};
  op.make_args = make_args;
  op.infer_outputs = infer_like_first;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "One loop: the definition.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(access_object, AccessObjectArgs, serial)},
      {.id = "numbers",
       .idea = "Two numbers as arguments.",
       .change = "the start of the GPU climb",
       .launch = ROOFTILE_GPU_LAUNCHES(access_object, AccessObjectArgs, numbers),
       .expects = {{"global_load_sectors_per_request", 4, 4}}},
      {.id = "object_by_value",
       .idea = "An object of a class with an operator(), passed by value: the same code, with a name.",
       .change = "a class in place of two numbers; the kernel is a template of it",
       .source = "CUDA C++ Programming Guide, classes",
       .launch = ROOFTILE_GPU_LAUNCHES(access_object, AccessObjectArgs, object_by_value),
       .expects = {{"global_load_sectors_per_request", 4, 4}}},
      {.id = "object_by_pointer",
       .idea = "The object lies in global memory: every thread loads it before it can begin.",
       .change = "a pointer in place of a value, and a launch that writes the object",
       .workspace = erase<AccessObjectArgs>(&object_workspace),
       .launch = ROOFTILE_GPU_LAUNCHES(access_object, AccessObjectArgs, object_by_pointer),
       .expects = {{"global_load_sectors_per_request", 1.95, 2}}},
      {.id = "virtual_on_device",
       .idea = "A virtual function, of an object that was constructed on the device: its table of functions "
               "holds addresses of device code.",
       .change = "a call through the table of functions in place of inlined code",
       .source = "CUDA C++ Programming Guide, virtual functions",
       .workspace = erase<AccessObjectArgs>(&object_workspace),
       .launch = ROOFTILE_GPU_LAUNCHES(access_object, AccessObjectArgs, virtual_on_device),
       .expects = {{"global_load_sectors_per_request", 1.6, 1.75}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_object_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_object(Context& context, const AccessObjectArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_object_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_object_workspace(const AccessObjectArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_object_operator(), AnyArgs::of(args), *properties);
}

Status access_object(StreamRef stream, const AccessObjectArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_object_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_object(Registry& registry) { registry.add(access_object_operator()); }

}  // namespace rooftile
