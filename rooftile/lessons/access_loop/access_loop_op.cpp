#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_loop/access_loop.h"
#include "rooftile/lessons/access_loop/rungs.h"

namespace rooftile {
namespace {

std::string_view choose(const AccessLoopArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "trips_per_warp_shared";
}

}  // namespace

const OperatorDescriptor& access_loop_operator() {
  static const OperatorDescriptor op = describe<AccessLoopArgs>(
      {.name = "access_loop",
       .summary = "the i-th element takes i % 32 steps: what loops of different length cost a warp",
       .maths = "y[i] = x[i] after i % 32 times v = (v + 1) / (2 + |v|).",
       .model =
           "reads and writes n * 4 bytes; 15.5 steps of 3 operations per element on average. A warp loops as long "
           "as its longest lane: 31 steps where its lanes are neighbours, with 16 lanes at work on average.",
       .source = "GPU MODE, lecture 4",
       .slots = {in("x", &AccessLoopArgs::x,
                    {.dtypes = {DType::f32}, .dense = true, .doc = "any shape, row-major"}),
                 out("y", &AccessLoopArgs::y,
                     {.dtype_of = "x", .shape_of = "x", .dense = true, .doc = "the shape of x"})},

       .choose = choose,
       .rungs = {
           {.rung = access_loop_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_loop_rungs::trips_per_lane,
            .idea =
                "The definition: every lane of a warp has another number of steps, and all wait for the longest.",
            .change = "the start of the GPU climb",
            .source = "GPU MODE, lecture 4",
            .expects = {{"active_lanes_per_basic_block", 16, 19}, {"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_loop_rungs::trips_per_warp_strided,
            .idea = "A warp takes the elements of one number of steps, 32 apart.",
            .change = "which thread takes which element; every access now touches 32 sectors",
            .expects = {{"active_lanes_per_basic_block", 31.5, 32},
                        {"global_load_sectors_per_request", 32, 32}}},
           {.rung = access_loop_rungs::trips_per_warp_shared,
            .idea =
                "A padded tile in shared memory turns the elements: neighbours for the memory, equals for the "
                "warp.",
            .change = "1024 elements of a block go through shared memory, twice",
            .expects = {{"active_lanes_per_basic_block", 31, 32},
                        {"bytes_moved_over_needed", 1, 1},
                        {"shared_load_conflict_degree", 1, 1},
                        {"shared_store_conflict_degree", 1, 1}}}}});
  return op;
}

ROOFTILE_REGISTER(access_loop)

}  // namespace rooftile
