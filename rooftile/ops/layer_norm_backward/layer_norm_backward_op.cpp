#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/families/norm/norm_backward_ring_plan.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"
#include "rooftile/ops/layer_norm_backward/rungs.h"

namespace rooftile {
namespace {

Status spec_of_columns(const LayerNormBackwardArgs& args, TensorSpec& spec) {
  spec = {args.x.dtype, {args.x.shape[args.x.rank() - 1]}};
  return {};
}

std::vector<Rung<LayerNormBackwardArgs>> rung_table() {
  using namespace norm_backward_plan;
  return {
      {.rung = layer_norm_backward_rungs::serial,
       .idea = "Loops over a row, each element's part added to its column.",
       .change = "the start of the CPU climb; in double",
       .plan = plan_cpu<LayerNormBackwardArgs>},
      {.rung = layer_norm_backward_rungs::threaded,
       .idea = "A part of the rows for every core, with sums of its own.",
       .change = "all cores; as many parts whatever the cores are: the same additions",
       .plan = plan_cpu<LayerNormBackwardArgs>},
      {.rung = layer_norm_backward_rungs::rows_then_columns,
       .idea = "A block for each row, and then a block for 32 columns walks down all rows.",
       .change = "the start of the GPU climb: x and dy are read again for the columns",
       .plan = plan_columns<LayerNormBackwardArgs>,
       .expects = {{"global_load_sectors_per_request", 3, 4}}},
      {.rung = layer_norm_backward_rungs::column_parts,
       .idea = "The rows' parts have sums of their own, which a third kernel adds up.",
       .change = "as many blocks as the GPU has room for, however few the columns are",
       .plan = plan_column_parts<LayerNormBackwardArgs>,
       .expects = {{"global_load_sectors_per_request", 3, 4}}},
      {.rung = layer_norm_backward_rungs::fused_elements,
       .idea = "A block has every so many-th row in its registers, and its columns' sums, too.",
       .change = "x and dy are read once; one barrier for up to four rows",
       .supports = supports_elements<LayerNormBackwardArgs>,
       .plan = plan_groups<false, LayerNormBackwardArgs>,
       .expects = {{"global_load_sectors_per_request", 3, 4}}},
      {.rung = layer_norm_backward_rungs::fused,
       .idea = "The same by vectors of 16 bytes, a quarter or an eighth of the requests.",
       .change = "rows begin at multiples of 16 bytes",
       // Between: the parts' sums are read element by element, and the simulated case has a part for each row.
       .supports = supports_fused<LayerNormBackwardArgs>,
       .plan = plan_groups<true, LayerNormBackwardArgs>,
       .expects = {{"global_load_sectors_per_request", 10, 16}}},
      {.rung = layer_norm_backward_rungs::shared_ring,
       .idea =
           "Rows pass through rings in shared memory, where groups of warps read them for the statistics and for dx.",
       .change = "no row waits in registers, and one thread computes where a row is: fewer instructions",
       .supports = supports_ring<LayerNormBackwardArgs>,
       .plan = plan_ring<LayerNormBackwardArgs>,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
  };
}

}  // namespace

const OperatorDescriptor& layer_norm_backward_operator() {
  static const OperatorDescriptor op = describe<LayerNormBackwardArgs>(
      {.name = "layer_norm_backward",
       .summary = "what comes back through layer_norm: gradients of x, weight and bias",
       .maths =
           "xhat = (x - mean x) / deviation, deviation = sqrt(variance x + eps), g = dy * weight; dx[j] = (g[j] - mean g - xhat[j] * mean (g xhat)) / deviation + dsum[j]; dweight[j] = sum over rows of dy[j] xhat[j]; dbias[j] = sum over rows of dy[j].",
       .model = "reads x and dy once and writes dx once: bound by memory.",
       .source = "Ba, Kiros and Hinton, Layer Normalization (2016)",
       .slots = {in("x", &LayerNormBackwardArgs::x,
                    {.dtypes = {DType::f32, DType::f16, DType::bf16},
                     .min_rank = 1,
                     .doc = "what layer_norm normalised"}),
                 in("dy", &LayerNormBackwardArgs::dy,
                    {.dtype_of = "x", .shape_of = "x", .doc = "the gradient of its result"}),
                 in("weight", &LayerNormBackwardArgs::weight,
                    {.dtype_of = "x",
                     .min_rank = 1,
                     .max_rank = 1,
                     .dense = true,
                     .optional = true,
                     .doc = "[n]: its factor"}),
                 in("dsum", &LayerNormBackwardArgs::dsum,
                    {.dtype_of = "x",
                     .shape_of = "x",
                     .optional = true,
                     .doc = "added to dx: what comes past the norm"}),
                 out("dx", &LayerNormBackwardArgs::dx,
                     {.dtype_of = "x", .shape_of = "x", .may_alias = "dy", .doc = "of x"}),
                 out("dweight", &LayerNormBackwardArgs::dweight, spec_of_columns,
                     {.dtype_of = "x", .dense = true, .optional = true, .doc = "[n]: of weight"}),
                 out("dbias", &LayerNormBackwardArgs::dbias, spec_of_columns,
                     {.dtype_of = "x", .dense = true, .optional = true, .doc = "[n]: of bias"})},
       .params = {param("eps", &LayerNormBackwardArgs::eps,
                        {.doc = "that of forward", .minimum = 0, .maximum = 1e30}),
                  case_param<LayerNormBackwardArgs>(
                      "weights", {.doc = "1: with a weight, 0: without", .minimum = 0, .maximum = 1}),
                  case_param<LayerNormBackwardArgs>(
                      "residuals", {.doc = "1: with a gradient past the norm", .minimum = 0, .maximum = 1}),
                  case_param<LayerNormBackwardArgs>(
                      "mean", {.doc = "what the elements of x lie about", .minimum = -1e38, .maximum = 1e38}),
                  case_param<LayerNormBackwardArgs>(
                      "pad", {.doc = "elements between rows", .minimum = 0, .maximum = 1e6})},
       .check = norm_backward_plan::check<LayerNormBackwardArgs>,
       .choose = norm_backward_plan::choose<LayerNormBackwardArgs>,
       .rungs = rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS_OF_3(layer_norm_backward, LayerNormBackwardArgs, x, dy)

}  // namespace rooftile
