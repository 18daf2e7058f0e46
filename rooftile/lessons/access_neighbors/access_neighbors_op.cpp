#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"
#include "rooftile/lessons/access_neighbors/rungs.h"

namespace rooftile {
namespace {

constexpr std::int64_t kLanes = 32;

std::string_view supports_vectors(const AccessNeighborsArgs& args, const DeviceProperties&) {
  return reinterpret_cast<std::uintptr_t>(args.y.data) % 16 == 0
             ? ""
             : "needs y aligned to 16 bytes: see turned_stores";
}

Status result_of(const AccessNeighborsArgs& args, TensorSpec& y) {
  const Extents& x = args.x.shape;
  y = {DType::f32, {x[0], x[1], x[2], kLanes}};
  return {};
}

std::string_view choose(const AccessNeighborsArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "serial";
  return supports_vectors(args, device).empty() ? "vector_stores" : "turned_stores";
}

}  // namespace

const OperatorDescriptor& access_neighbors_operator() {
  static const OperatorDescriptor op = describe<AccessNeighborsArgs>(
      {.name = "access_neighbors",
       .summary = "what the 32 lanes of a warp of an 8 x 8 x 8 block see of a volume",
       .maths = "y[z, i, j, l] = x[z, 4 * (i / 4) + l / 8, 8 * (j / 8) + l % 8], and 0 outside of x.",
       .model = "reads 4 and writes 128 bytes per point: the stores decide.",
       .source = "GPU MODE, lecture 4",
       .slots = {in("x", &AccessNeighborsArgs::x,
                    {.dtypes = {DType::f32},
                     .min_rank = 3,
                     .max_rank = 3,
                     .dense = true,
                     .doc = "[d, m, n], row-major"}),
                 out("y", &AccessNeighborsArgs::y, result_of,
                     {.dtype_of = "x", .min_rank = 4, .max_rank = 4, .dense = true, .doc = "[d, m, n, 32]"})},
       .choose = choose,
       .rungs = {
           {.rung = access_neighbors_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_neighbors_rungs::loads_by_lane,
            .idea =
                "Each thread loads its 32 neighbours itself, one by one: all lanes ask for the same word.",
            .change = "the start of the GPU climb",
            .source = "GPU MODE, lecture 4",
            .expects = {{"global_load_sectors_per_request", 1, 1},
                        {"global_store_sectors_per_request", 32, 32}}},
           {.rung = access_neighbors_rungs::shuffles,
            .idea =
                "A thread loads its own point; the neighbours come from the registers of the other lanes.",
            .change = "one load and 32 shuffles in place of 32 loads",
            .source = "GPU MODE, lecture 4",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 32, 32}}},
           {.rung = access_neighbors_rungs::turned_stores,
            .idea =
                "The 32 neighbours of a point are what the warp holds: together the lanes store one point "
                "after the other.",
            .change = "lanes along the neighbours in place of the points; no shuffle is left",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4}}},
           {.rung = access_neighbors_rungs::vector_stores,
            .idea = "A lane keeps four neighbours, the same four of every point that it stores.",
            .change = "4 shuffles and 8 stores of 16 bytes in place of 32 stores",
            .supports = supports_vectors,
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 16, 16}}}}});
  return op;
}

ROOFTILE_REGISTER(access_neighbors)

}  // namespace rooftile
