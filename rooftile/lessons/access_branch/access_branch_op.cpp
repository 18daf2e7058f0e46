#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_branch/access_branch.h"
#include "rooftile/lessons/access_branch/rungs.h"

namespace rooftile {
namespace {

std::string_view supports_pairs(const AccessBranchArgs& args, const DeviceProperties&) {
  const auto bits =
      reinterpret_cast<std::uintptr_t>(args.x.data) | reinterpret_cast<std::uintptr_t>(args.y.data);
  return bits % 8 == 0 ? "" : "needs x and y aligned to 8 bytes: see branch_per_warp";
}

std::string_view choose(const AccessBranchArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "serial";
  return supports_pairs(args, device).empty() ? "pair_per_thread" : "branch_per_warp";
}

}  // namespace

const OperatorDescriptor& access_branch_operator() {
  static const OperatorDescriptor op = describe<AccessBranchArgs>(
      {.name = "access_branch",
       .summary = "even and odd elements go different ways: what a branch inside of a warp costs",
       .maths = "i even: y = 32 times v = fma(v, 1/2, 1/4) from x; i odd: 32 times v = (v + 1) / (2 + |v|).",
       .model =
           "reads and writes n * 4 bytes; 64 or 96 operations per element, a multiply-add being two. A warp whose "
           "lanes disagree runs both "
           "ways one after the other, each with the other lanes switched off.",
       .source = "GPU MODE, lecture 4",
       .slots = {in("x", &AccessBranchArgs::x,
                    {.dtypes = {DType::f32}, .dense = true, .doc = "any shape, row-major"}),
                 out("y", &AccessBranchArgs::y,
                     {.dtype_of = "x", .shape_of = "x", .dense = true, .doc = "the shape of x"})},

       .choose = choose,
       .rungs = {
           {.rung = access_branch_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_branch_rungs::branch_per_lane,
            .idea = "The definition: neighbouring lanes go different ways.",
            .change = "the start of the GPU climb",
            .source = "GPU MODE, lecture 4",
            .expects = {{"active_lanes_per_basic_block", 16, 20}, {"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_branch_rungs::branch_per_warp,
            .idea =
                "Warps in place of lanes disagree: one takes the even elements of a stretch, the next the odd "
                "ones.",
            .change = "which thread takes which element; loads and stores now skip every second word",
            .expects = {{"active_lanes_per_basic_block", 31.5, 32},
                        {"global_load_sectors_per_request", 8, 8}}},
           {.rung = access_branch_rungs::both_ways_and_select,
            .idea = "No branch at all: every lane computes both and keeps one.",
            .change = "twice the arithmetic in place of a branch; accesses side by side again",
            .expects = {{"active_lanes_per_basic_block", 31.5, 32},
                        {"global_load_sectors_per_request", 4, 4}}},
           {.rung = access_branch_rungs::pair_per_thread,
            .idea =
                "A thread takes an even element and the odd one after it, and goes both ways for its own sake.",
            .change =
                "two elements per thread, by one 8-byte access: no lane waits and nothing is computed in vain",
            .supports = supports_pairs,
            .expects = {{"active_lanes_per_basic_block", 31.5, 32},
                        {"global_load_sectors_per_request", 8, 8}}}}});
  return op;
}

ROOFTILE_REGISTER(access_branch)

}  // namespace rooftile
