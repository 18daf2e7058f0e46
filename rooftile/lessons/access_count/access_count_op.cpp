#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_count/access_count.h"
#include "rooftile/lessons/access_count/rungs.h"

namespace rooftile {
namespace {

Status result_of(const AccessCountArgs&, TensorSpec& y) {
  y = {DType::i32, {}};
  return {};
}

std::string_view choose(const AccessCountArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "atomic_per_block";
}

}  // namespace

const OperatorDescriptor& access_count_operator() {
  static const OperatorDescriptor op = describe<AccessCountArgs>(
      {.name = "access_count",
       .summary = "all threads add to one number: the race, and what its cures cost",
       .maths = "y = the sum of x, modulo 2^32.",
       .model =
           "reads n * 4 bytes. Atomics on one address are served one after the other: what counts is how many "
           "there are.",
       .source = "the definition",
       .slots = {in("x", &AccessCountArgs::x,
                    {.dtypes = {DType::i32}, .dense = true, .doc = "any shape, row-major"}),
                 out("y", &AccessCountArgs::y, result_of,
                     {.dtype_of = "x", .dense = true, .free_ones = true, .doc = "one element"})},
       .choose = choose,
       .rungs = {
           {.rung = access_count_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_count_rungs::unguarded,
            .idea = "Every thread adds to the total as if it were alone.",
            .change =
                "the start of the GPU climb, and a mistake: all read the same old total, and one of the new "
                "ones stays",
            .source = "256 threads that add 3: 3 in place of 768",
            .expects = {{"global_load_sectors_per_request", 1, 4}},
            .wrong_on_purpose =
                "a race: threads read, add and write back one number, and most additions are lost"},
           {.rung = access_count_rungs::atomic_per_thread,
            .idea = "One indivisible addition per thread: right, and one after the other.",
            .change = "atomicAdd in place of a load, an addition and a store",
            .expects = {{"atomic_lanes_per_address", 30, 32}, {"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_count_rungs::atomic_per_warp,
            .idea = "The lanes add up in registers first: one atomic for 32 elements.",
            .change = "a warp reduction before the atomic",
            .expects = {{"atomic_lanes_per_address", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_count_rungs::atomic_per_block,
            .idea = "A block adds up what it can, many elements per thread: as many atomics as blocks.",
            .change = "a loop per thread, and a block reduction before the atomic",
            .expects = {{"atomic_lanes_per_address", 1, 1}, {"global_load_sectors_per_request", 4, 4}}}}});
  return op;
}

ROOFTILE_REGISTER(access_count)

}  // namespace rooftile
