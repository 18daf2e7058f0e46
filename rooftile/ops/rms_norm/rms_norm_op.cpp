#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/families/norm/norm_plan.h"
#include "rooftile/ops/rms_norm/rms_norm.h"
#include "rooftile/ops/rms_norm/rungs.h"

namespace rooftile {
namespace {

std::vector<Rung<RmsNormArgs>> rung_table() {
  using namespace norm_plan;
  constexpr double kMostMoved = 1.5;  // every row reads the weights once more, from L1
  return {
      {.rung = rms_norm_rungs::serial,
       .idea = "Loops over a row: the definition.",
       .change = "the start of the CPU climb; in double"},
      {.rung = rms_norm_rungs::threaded,
       .idea = "A part of the rows for every core, its loops vectors; long rows by parts.",
       .change = "all cores, independent chains of sums",
       .plan = plan_parts<RmsNormArgs>},
      {.rung = rms_norm_rungs::thread_row,
       .idea = "A thread walks along a row twice: squares, results.",
       .change = "the start of the GPU climb; any strides",
       .supports = norm_plan::supports_thread_rows<RmsNormArgs>,
       .plan = norm_plan::plan_rows<RmsNormArgs>,
       .expects = {{"global_load_sectors_per_request", 16, 22}}},
      {.rung = rms_norm_rungs::warp_row,
       .idea = "The lanes of a warp stand side by side in a row, whose elements they keep in registers.",
       .change = "a warp's loads lie side by side; the row is read once",
       .supports = supports_warp_rows<RmsNormArgs>,
       .plan = plan_rows<RmsNormArgs>,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}, {"bytes_moved_over_needed", 1, kMostMoved}}},
      {.rung = rms_norm_rungs::block_row,
       .idea = "A block's threads stand side by side in a row, eight elements on their way for each.",
       .change = "16 warps to a row; it serves rows of any length and any strides",
       .plan = plan_rows<RmsNormArgs>,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
      {.rung = rms_norm_rungs::vectorized,
       .idea = "As many threads to a row as it has aligned vectors of 16 bytes.",
       .change = "16 bytes for each load and store, lanes by the row's length",
       .supports = supports_vectorized<RmsNormArgs>,
       .plan = plan_vectorized<RmsNormArgs>,
       .expects = {{"global_load_sectors_per_request", 15, 16}, {"bytes_moved_over_needed", 1, kMostMoved}}},
      {.rung = rms_norm_rungs::cluster,
       .idea =
           "The blocks of a cluster have a part of the row in registers; each warp's statistics go to all of them.",
       .change = "long rows in small blocks: others load and store while one waits for its sum",
       .supports = supports_cluster<RmsNormArgs>,
       .plan = plan_cluster<RmsNormArgs>,
       .expects = {{"global_load_sectors_per_request", 15, 16}, {"bytes_moved_over_needed", 1, kMostMoved}}},
      {.rung = rms_norm_rungs::grid,
       .idea = "Every multiprocessor has a part of every row; the parts' statistics meet in global memory.",
       .change = "a few long rows have all multiprocessors; one row is stored while others still come",
       .source = "CUDA Programming Guide, Grid Synchronization",
       .supports = supports_grid<RmsNormArgs>,
       .plan = plan_grid<RmsNormArgs>,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"bytes_moved_over_needed", 1, kMostMoved}}},
      {.rung = rms_norm_rungs::split_row,
       .idea =
           "Each of a few rows has some blocks of its own; their parts' statistics meet in global memory.",
       .change = "all rows are asked for at once, and a row waits for its own blocks alone",
       .source = "NVIDIA Apex, contrib/csrc/layer_norm (CTAS_PER_ROW)",
       .supports = supports_split<RmsNormArgs>,
       .plan = plan_split<RmsNormArgs>,
       // What is moved depends on how often the words are asked for.
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
  };
}

}  // namespace

const OperatorDescriptor& rms_norm_operator() {
  static const OperatorDescriptor op = describe<RmsNormArgs>(
      {.name = "rms_norm",
       .summary = "each row over the root of the mean of its squares; with weight and a residual",
       .maths = "v = x + residual; y[j] = v[j] / sqrt(mean of v[i]^2 + eps) * weight[j].",
       .model = "reads every element once and writes it once: bound by memory.",
       .source = "Zhang and Sennrich, Root Mean Square Layer Normalization (2019)",
       .slots = {in("x", &RmsNormArgs::x,
                    {.dtypes = {DType::f32, DType::f16, DType::bf16},
                     .min_rank = 1,
                     .doc = "rows along the last axis"}),
                 inout("residual", &RmsNormArgs::residual,
                       {.dtype_of = "x",
                        .shape_of = "x",
                        .optional = true,
                        .doc = "x is added to it; the sum is normalised"}),
                 in("weight", &RmsNormArgs::weight,
                    {.dtype_of = "x",
                     .min_rank = 1,
                     .max_rank = 1,
                     .dense = true,
                     .optional = true,
                     .doc = "[n]: a factor"}),
                 out("y", &RmsNormArgs::y,
                     {.dtype_of = "x", .shape_of = "x", .may_alias = "x", .doc = "normalised rows"})},
       .params = {param("eps", &RmsNormArgs::eps,
                        {.doc = "added to the mean of the squares", .minimum = 0, .maximum = 1e30}),
                  case_param<RmsNormArgs>(
                      "weights", {.doc = "1: with a weight, 0: without", .minimum = 0, .maximum = 1}),
                  case_param<RmsNormArgs>("residuals",
                                          {.doc = "1: with a residual", .minimum = 0, .maximum = 1}),
                  case_param<RmsNormArgs>(
                      "mean", {.doc = "what the elements of x lie about", .minimum = -1e38, .maximum = 1e38}),
                  case_param<RmsNormArgs>(
                      "pad", {.doc = "elements between the rows of x", .minimum = 0, .maximum = 1e6})},
       .check = norm_plan::check<RmsNormArgs>,
       .choose = norm_plan::choose<RmsNormArgs>,
       .rungs = rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(rms_norm, RmsNormArgs, x)

}  // namespace rooftile
