#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_swap/access_swap.h"
#include "rooftile/lessons/access_swap/rungs.h"

namespace rooftile {
namespace {

std::string_view choose(const AccessSwapArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "exchange_by_shuffle";
}

}  // namespace

const OperatorDescriptor& access_swap_operator() {
  static const OperatorDescriptor op = describe<AccessSwapArgs>(
      {.name = "access_swap",
       .summary = "the halves of a warp exchange values: who waits for whom after a branch",
       .maths = "i % 32 < 16: y[i] = x[i + 16] + 1; else y[i] = 2 * x[i - 16]; behind its end x is 0.",
       .model =
           "reads and writes n * 4 bytes. Since Volta the lanes of a warp may go on one by one: what one lane "
           "hands to another through memory needs __syncwarp() between.",
       .source = "GPU MODE, lecture 4",
       .slots = {in("x", &AccessSwapArgs::x,
                    {.dtypes = {DType::f32}, .dense = true, .doc = "any shape, row-major"}),
                 out("y", &AccessSwapArgs::y,
                     {.dtype_of = "x", .shape_of = "x", .dense = true, .doc = "the shape of x"})},

       .choose = choose,
       .rungs = {
           {.rung = access_swap_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_swap_rungs::missing_syncwarp,
            .idea = "Each half writes to shared memory in its own branch, then reads what the other wrote.",
            .change = "the start of the GPU climb, and a mistake: nothing orders the two branches",
            .source = "code for GPUs before Volta",
            .expects = {{"global_load_sectors_per_request", 4, 4}},
            .wrong_on_purpose =
                "a race: a lane reads what the other half writes, with no __syncwarp() between"},
           {.rung = access_swap_rungs::syncwarp,
            .idea = "The lanes meet before they read.",
            .change = "__syncwarp() after the branches",
            .source = "GPU MODE, lecture 4",
            .expects = {{"shared_load_conflict_degree", 1, 1}, {"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_swap_rungs::exchange_by_shuffle,
            .idea = "The value goes from register to register: nothing to order.",
            .change = "a shuffle in place of shared memory",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4}}}}});
  return op;
}

ROOFTILE_REGISTER(access_swap)

}  // namespace rooftile
