#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_object/access_object.h"
#include "rooftile/lessons/access_object/rungs.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostObjectBytes = 64;

RungPlan object_plan(const AccessObjectArgs&, const DeviceProperties&) {
  return {.workspace = {.bytes = kMostObjectBytes}};
}

std::string_view choose(const AccessObjectArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "object_by_value";
}

}  // namespace

const OperatorDescriptor& access_object_operator() {
  static const OperatorDescriptor op = describe<AccessObjectArgs>(
      {.name = "access_object",
       .summary = "how a kernel gets an object of a class: by value, by pointer, with virtual functions",
       .maths = "y[i] = fma(a, x[i], b).",
       .model =
           "reads and writes n * 4 bytes. An object that is passed by value lies in constant memory, where an "
           "argument lies; one that is passed by pointer is loaded by every thread.",
       .source = "CUDA C++ Programming Guide, C++ language support",
       .slots = {in("x", &AccessObjectArgs::x,
                    {.dtypes = {DType::f32}, .dense = true, .doc = "any shape, row-major"}),
                 out("y", &AccessObjectArgs::y,
                     {.dtype_of = "x", .shape_of = "x", .dense = true, .doc = "the shape of x"})},
       .params = {param("a", &AccessObjectArgs::a,
                        {.doc = "the factor, rounded to f32", .minimum = -1e30, .maximum = 1e30}),
                  param("b", &AccessObjectArgs::b,
                        {.doc = "what is added, rounded to f32", .minimum = -1e30, .maximum = 1e30})},
       .choose = choose,
       .rungs = {
           {.rung = access_object_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_object_rungs::numbers,
            .idea = "Two numbers as arguments.",
            .change = "the start of the GPU climb",
            .expects = {{"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_object_rungs::object_by_value,
            .idea = "An object of a class with an operator(), passed by value: the same code, with a name.",
            .change = "a class in place of two numbers; the kernel is a template of it",
            .source = "CUDA C++ Programming Guide, classes",
            .expects = {{"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_object_rungs::object_by_pointer,
            .idea = "The object lies in global memory: every thread loads it before it can begin.",
            .change = "a pointer in place of a value, and a launch that writes the object",
            .plan = object_plan,
            .expects = {{"global_load_sectors_per_request", 1.95, 2}}},
           {.rung = access_object_rungs::virtual_on_device,
            .idea =
                "A virtual function, of an object that was constructed on the device: its table of functions "
                "holds addresses of device code.",
            .change = "a call through the table of functions in place of inlined code",
            .source = "CUDA C++ Programming Guide, virtual functions",
            .plan = object_plan,
            .expects = {{"global_load_sectors_per_request", 1.6, 1.75}}}}});
  return op;
}

ROOFTILE_REGISTER(access_object)

}  // namespace rooftile
