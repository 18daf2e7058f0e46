#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_constant/access_constant.h"
#include "rooftile/lessons/access_constant/access_constant_table.h"
#include "rooftile/lessons/access_constant/rungs.h"

namespace rooftile {
namespace {

RungPlan table_plan(const AccessConstantArgs&, const DeviceProperties&) {
  return {.workspace = {.bytes = kTableSize * sizeof(float)}};
}

std::string_view choose(const AccessConstantArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "shared_table";
}

}  // namespace

const OperatorDescriptor& access_constant_operator() {
  static const OperatorDescriptor op = describe<AccessConstantArgs>(
      {.name = "access_constant",
       .summary = "a table of 64 numbers, read at one index by all lanes of a warp or by each at its own",
       .maths =
           "acc = fma(acc, x[i], table[(first + r) % 64]) for r = 0 ... 63; table[k] = 1 / (k + 1); first = i / "
           "32 (uniform) or i (lane).",
       .model =
           "reads and writes n * 4 bytes, 64 multiply-adds and 64 table look-ups per element. Constant memory "
           "serves one word per pass: one pass for a uniform index, 32 where every lane has its own.",
       .source = "CUDA C++ Best Practices Guide, constant memory",
       .slots = {in("x", &AccessConstantArgs::x,
                    {.dtypes = {DType::f32}, .dense = true, .doc = "any shape, row-major"}),
                 out("y", &AccessConstantArgs::y,
                     {.dtype_of = "x", .shape_of = "x", .dense = true, .doc = "the shape of x"})},
       .params = {param("index", &AccessConstantArgs::index,
                        {.doc = "one entry for the lanes of a warp, or each its own"})},
       .choose = choose,
       .rungs = {
           {.rung = access_constant_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_constant_rungs::constant_memory,
            .idea =
                "The table lies in constant memory: a word that all lanes want comes at once, from a cache of "
                "its own.",
            .change = "the start of the GPU climb",
            .source = "CUDA C++ Programming Guide, __constant__",
            .expects = {{"constant_load_words_per_request", 1, 1}}},
           {.rung = access_constant_rungs::kernel_argument,
            .idea = "The table is passed by value: arguments lie in constant memory, too.",
            .change = "a structure of 256 bytes as an argument in place of a variable",
            .source = "CUDA C++ Programming Guide, __grid_constant__",
            .expects = {{"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_constant_rungs::global_table,
            .idea =
                "The table lies in global memory, and L1 serves it: one sector for one word, or four for 32 "
                "words side by side.",
            .change = "global memory in place of constant memory",
            .plan = table_plan,
            .expects = {{"global_load_sectors_per_request", 1, 1.1}}},
           {.rung = access_constant_rungs::shared_table,
            .idea =
                "Each block takes a copy into shared memory: one word for all lanes or one word of each bank, "
                "one pass either way.",
            .change = "shared memory in place of L1, and a barrier",
            .expects = {{"shared_load_conflict_degree", 1, 1}}}}});
  return op;
}

ROOFTILE_REGISTER(access_constant)

}  // namespace rooftile
