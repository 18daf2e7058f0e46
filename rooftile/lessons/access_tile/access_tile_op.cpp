#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_tile/access_tile.h"
#include "rooftile/lessons/access_tile/rungs.h"

namespace rooftile {
namespace {

std::string_view choose(const AccessTileArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "block_32x8";
}

}  // namespace

const OperatorDescriptor& access_tile_operator() {
  static const OperatorDescriptor op = describe<AccessTileArgs>(
      {.name = "access_tile",
       .summary = "a copy of a matrix: which shape of a thread block covers it best",
       .maths = "y[i, j] = x[i, j].",
       .model =
           "reads and writes m * n * 4 bytes. A warp of a 32 x 8 block covers 128 bytes of one row, of a 16 x 16 "
           "block 64 bytes of two rows, of an 8 x 32 block 32 bytes of four: where rows do not begin at a "
           "multiple of 32 bytes, every piece touches one sector more.",
       .source = "CUDA C++ Best Practices Guide, Coalesced Access to Global Memory",
       .slots = {in("x", &AccessTileArgs::x,
                    {.dtypes = {DType::f32},
                     .min_rank = 2,
                     .max_rank = 2,
                     .dense = true,
                     .doc = "[m, n], row-major"}),
                 out("y", &AccessTileArgs::y,
                     {.dtype_of = "x", .shape_of = "x", .dense = true, .doc = "[m, n]"})},

       .choose = choose,
       .rungs = {
           {.rung = access_tile_rungs::serial,
            .idea = "Two loops in one: rows without gaps are one stretch.",
            .change = "the start of the CPU climb"},
           {.rung = access_tile_rungs::lanes_along_columns,
            .idea =
                "Lanes go down a column, as loops written for a CPU that number rows by the first index do.",
            .change = "the start of the GPU climb: threadIdx.x counts rows",
            .expects = {{"global_load_sectors_per_request", 29, 32},
                        {"global_store_sectors_per_request", 29, 32}}},
           {.rung = access_tile_rungs::block_8x32,
            .idea = "Lanes along rows, eight of them: a warp covers four rows, 32 bytes of each.",
            .change = "threadIdx.x counts columns",
            .expects = {{"global_load_sectors_per_request", 6.5, 7.5}}},
           {.rung = access_tile_rungs::block_16x16,
            .idea = "Sixteen lanes along a row: 64 bytes of two rows.",
            .change = "the block is wider and lower",
            .expects = {{"global_load_sectors_per_request", 5, 5.75}}},
           {.rung = access_tile_rungs::block_32x8,
            .idea = "A whole warp along a row: one piece of 128 bytes, one sector too many at most.",
            .change = "the block is as wide as a warp",
            .expects = {{"global_load_sectors_per_request", 4.3, 4.875}}}}});
  return op;
}

ROOFTILE_REGISTER(access_tile)

}  // namespace rooftile
