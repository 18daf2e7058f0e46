#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/families/norm/norm_backward_ring_plan.h"
#include "rooftile/ops/rms_norm_backward/rms_norm_backward.h"
#include "rooftile/ops/rms_norm_backward/rungs.h"

namespace rooftile {
namespace {

Status spec_of_columns(const RmsNormBackwardArgs& args, TensorSpec& spec) {
  spec = {args.x.dtype, {args.x.shape[args.x.rank() - 1]}};
  return {};
}

std::vector<Rung<RmsNormBackwardArgs>> rung_table() {
  using namespace norm_backward_plan;
  return {
      {.rung = rms_norm_backward_rungs::serial,
       .idea = "Loops over a row, each element's part added to its column.",
       .change = "the start of the CPU climb; in double",
       .plan = plan_cpu<RmsNormBackwardArgs>},
      {.rung = rms_norm_backward_rungs::threaded,
       .idea = "A part of the rows for every core, with sums of its own.",
       .change = "all cores; as many parts whatever the cores are: the same additions",
       .plan = plan_cpu<RmsNormBackwardArgs>},
      {.rung = rms_norm_backward_rungs::rows_then_columns,
       .idea = "A block for each row, and then a block for 32 columns walks down all rows.",
       .change = "the start of the GPU climb: x and dy are read again for the columns",
       .plan = plan_columns<RmsNormBackwardArgs>,
       .expects = {{"global_load_sectors_per_request", 3, 4}}},
      {.rung = rms_norm_backward_rungs::column_parts,
       .idea = "The rows' parts have sums of their own, which a third kernel adds up.",
       .change = "as many blocks as the GPU has room for, however few the columns are",
       .plan = plan_column_parts<RmsNormBackwardArgs>,
       .expects = {{"global_load_sectors_per_request", 3, 4}}},
      {.rung = rms_norm_backward_rungs::fused_elements,
       .idea = "A block has every so many-th row in its registers, and its columns' sums, too.",
       .change = "x and dy are read once; one barrier for up to four rows",
       .supports = supports_elements<RmsNormBackwardArgs>,
       .plan = plan_groups<false, RmsNormBackwardArgs>,
       .expects = {{"global_load_sectors_per_request", 3, 4}}},
      {.rung = rms_norm_backward_rungs::fused,
       .idea = "The same by vectors of 16 bytes, a quarter or an eighth of the requests.",
       .change = "rows begin at multiples of 16 bytes",
       // Between: the parts' sums are read element by element, and the simulated case has a part for each row.
       .supports = supports_fused<RmsNormBackwardArgs>,
       .plan = plan_groups<true, RmsNormBackwardArgs>,
       .expects = {{"global_load_sectors_per_request", 10, 16}}},
      {.rung = rms_norm_backward_rungs::shared_ring,
       .idea =
           "Rows pass through rings in shared memory, where groups of warps read them for the statistics and for dx.",
       .change = "no row waits in registers, and one thread computes where a row is: fewer instructions",
       .supports = supports_ring<RmsNormBackwardArgs>,
       .plan = plan_ring<RmsNormBackwardArgs>,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
  };
}

}  // namespace

const OperatorDescriptor& rms_norm_backward_operator() {
  static const OperatorDescriptor op = describe<RmsNormBackwardArgs>(
      {.name = "rms_norm_backward",
       .summary = "what comes back through rms_norm: gradients of x and weight",
       .maths =
           "xhat = x / deviation, deviation = sqrt(mean of x^2 + eps), g = dy * weight; dx[j] = (g[j] - xhat[j] * mean (g xhat)) / deviation + dsum[j]; dweight[j] = sum over rows of dy[j] xhat[j].",
       .model = "reads x and dy once and writes dx once: bound by memory.",
       .source = "Zhang and Sennrich, Root Mean Square Layer Normalization (2019)",
       .slots = {in("x", &RmsNormBackwardArgs::x,
                    {.dtypes = {DType::f32, DType::f16, DType::bf16},
                     .min_rank = 1,
                     .doc = "what rms_norm normalised"}),
                 in("dy", &RmsNormBackwardArgs::dy,
                    {.dtype_of = "x", .shape_of = "x", .doc = "the gradient of its result"}),
                 in("weight", &RmsNormBackwardArgs::weight,
                    {.dtype_of = "x",
                     .min_rank = 1,
                     .max_rank = 1,
                     .dense = true,
                     .optional = true,
                     .doc = "[n]: its factor"}),
                 in("dsum", &RmsNormBackwardArgs::dsum,
                    {.dtype_of = "x",
                     .shape_of = "x",
                     .optional = true,
                     .doc = "added to dx: what comes past the norm"}),
                 out("dx", &RmsNormBackwardArgs::dx,
                     {.dtype_of = "x", .shape_of = "x", .may_alias = "dy", .doc = "of x"}),
                 out("dweight", &RmsNormBackwardArgs::dweight, spec_of_columns,
                     {.dtype_of = "x", .dense = true, .optional = true, .doc = "[n]: of weight"})},
       .params = {param("eps", &RmsNormBackwardArgs::eps,
                        {.doc = "that of forward", .minimum = 0, .maximum = 1e30}),
                  case_param<RmsNormBackwardArgs>(
                      "weights", {.doc = "1: with a weight, 0: without", .minimum = 0, .maximum = 1}),
                  case_param<RmsNormBackwardArgs>(
                      "residuals", {.doc = "1: with a gradient past the norm", .minimum = 0, .maximum = 1}),
                  case_param<RmsNormBackwardArgs>(
                      "mean", {.doc = "what the elements of x lie about", .minimum = -1e38, .maximum = 1e38}),
                  case_param<RmsNormBackwardArgs>(
                      "pad", {.doc = "elements between rows", .minimum = 0, .maximum = 1e6})},
       .check = norm_backward_plan::check<RmsNormBackwardArgs>,
       .choose = norm_backward_plan::choose<RmsNormBackwardArgs>,
       .rungs = rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS_OF_2(rms_norm_backward, RmsNormBackwardArgs, x, dy)

}  // namespace rooftile
