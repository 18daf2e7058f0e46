#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/softmax/softmax_plan.h"
#include "rooftile/ops/softmax/softmax_table.h"

namespace rooftile {
namespace {

Status check(const SoftmaxArgs& args) {
  constexpr double kLeast = 1e-30;
  if (args.temperature > 0 && args.temperature < kLeast)
    return invalid_argument("temperature is " + to_string(ParamValue(args.temperature)) +
                            ": below 1e-30 only 0 is served, which is argmax");
  if (!softmax_plan::geometry(args).fits) {
    return unsupported(
        "the axes in front of the rows lie at more than two strides: call it for a part of the tensor at a time, or for a "
        "copy without gaps");
  }
  return {};
}

}  // namespace

const OperatorDescriptor& softmax_operator() {
  static const OperatorDescriptor op = describe<SoftmaxArgs>(
      {.name = "softmax",
       .summary =
           "each row as probabilities: exp(x - max) / sum, with temperature, bias and mask; or their logarithms",
       .maths =
           "v = x + bias, -inf where the mask is 0; y[j] = exp((v[j] - max v) / temperature) / sum over i of the same.",
       .model = "reads every element once and writes it once: bound by memory.",
       .source = "Milakov and Gimelshein, Online normalizer calculation for softmax (2018)",
       .slots =
           {in("x", &SoftmaxArgs::x,
               {.dtypes = {DType::f32, DType::f16, DType::bf16},
                .min_rank = 1,
                .doc = "rows along the last axis"}),
            in("bias", &SoftmaxArgs::bias,
               {.dtype_of = "x", .shape_of = "x", .optional = true, .doc = "added to x"}),
            in("mask", &SoftmaxArgs::mask,
               {.dtypes = {DType::u8}, .shape_of = "x", .optional = true, .doc = "0: as if x were -inf"}),
            out("y", &SoftmaxArgs::y,
                {.dtype_of = "x", .shape_of = "x", .may_alias = "x", .doc = "probabilities of each row"})},
       .params =
           {param("temperature", &SoftmaxArgs::temperature,
                  {.doc = "what differences are divided by; 0: argmax", .minimum = 0, .maximum = 1e30}),
            param("log", &SoftmaxArgs::log, {.doc = "the probabilities' logarithms"}),
            case_param<SoftmaxArgs>("pad",
                                    {.doc = "elements between the rows of x", .minimum = 0, .maximum = 1e6}),
            case_param<SoftmaxArgs>(
                "bias_rows",
                {.doc = "rows of the bias: 1 for all rows, or as many as x", .minimum = 1, .maximum = 2}),
            case_param<SoftmaxArgs>(
                "mask_rows",
                {.doc = "rows of the mask: 1 for all rows, or as many as x", .minimum = 1, .maximum = 2})},
       .check = check,
       .choose = softmax_choose,
       .rungs = softmax_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(softmax, SoftmaxArgs, x)

}  // namespace rooftile
