#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_registers/access_registers.h"
#include "rooftile/lessons/access_registers/rungs.h"

namespace rooftile {
namespace {

constexpr std::int64_t kRows = 64;

Status check(const AccessRegistersArgs& args) {
  return args.x.shape[0] == kRows ? Status() : invalid_argument("x must have 64 rows and n columns");
}

std::string_view choose(const AccessRegistersArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "register_array";
}

}  // namespace

const OperatorDescriptor& access_registers_operator() {
  static const OperatorDescriptor op = describe<AccessRegistersArgs>(
      {.name = "access_registers",
       .summary = "a thread keeps 64 numbers: in registers, spilled, or in local memory",
       .maths = "y[k, j] = x[k, j] - max over k of x[k, j].",
       .model =
           "reads and writes 64 * n * 4 bytes, 128 operations per column. A thread that keeps its column reads it "
           "once; 64 numbers need some 80 registers, so that an SM holds 3 blocks of 256 threads.",
       .source = "CUDA C++ Programming Guide, launch bounds",
       .slots = {in("x", &AccessRegistersArgs::x,
                    {.dtypes = {DType::f32},
                     .min_rank = 2,
                     .max_rank = 2,
                     .dense = true,
                     .doc = "[64, n], row-major"}),
                 out("y", &AccessRegistersArgs::y,
                     {.dtype_of = "x", .shape_of = "x", .dense = true, .doc = "[64, n]"})},

       .check = check,
       .choose = choose,
       .rungs = {
           {.rung = access_registers_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_registers_rungs::two_passes,
            .idea = "The column is read for its largest number, and again for the differences.",
            .change = "the start of the GPU climb",
            .expects = {{"bytes_moved_over_needed", 1.49, 1.5}, {"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_registers_rungs::register_array,
            .idea = "An array whose every index is known when it is compiled lies in registers.",
            .change = "the column is kept: it is read once",
            .expects = {{"bytes_moved_over_needed", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_registers_rungs::tight_launch_bounds,
            .idea =
                "A promise of 6 blocks per SM leaves 40 registers per thread: the rest spills to local memory.",
            .change = "__launch_bounds__(256, 6), nothing else",
            .source = "CUDA C++ Programming Guide, launch bounds",
            .expects = {{"bytes_moved_over_needed", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_registers_rungs::indexed_array,
            .idea =
                "An index that is known only when it runs: registers have none, so the array lies in local "
                "memory.",
            .change = "the maximum starts at a row that the caller names",
            .source = "CUDA C++ Programming Guide, local memory",
            .expects = {{"bytes_moved_over_needed", 1, 1}, {"global_load_sectors_per_request", 4, 4}}}}});
  return op;
}

ROOFTILE_REGISTER(access_registers)

}  // namespace rooftile
