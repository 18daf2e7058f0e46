#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/dot/dot_table.h"

namespace rooftile {
namespace {

const DTypeSet kFloats = {DType::f64, DType::f32, DType::f16, DType::bf16};

DTypeSet compute_dtypes(DType in) {
  if (in == DType::f64) return {DType::f64};
  if (in == DType::f32) return {DType::f32, DType::f64};
  return {in, DType::f32};
}

Status result_of(const DotArgs& args, TensorSpec& out) {
  out.dtype = args.out_dtype.value_or(args.a.dtype);
  if (!kFloats.contains(out.dtype)) return invalid_argument("out_dtype must be " + kFloats.to_string());
  return {};
}

Status check(const DotArgs& args) {
  if (args.out_dtype && args.out.dtype != *args.out_dtype) {
    return invalid_argument("out_dtype is " + std::string(to_string(*args.out_dtype)) +
                            " and out is another: leave out_dtype to a call without out");
  }
  if (!args.compute_dtype) return {};
  const DTypeSet legal = compute_dtypes(args.a.dtype);
  if (legal.contains(*args.compute_dtype)) return {};
  return invalid_argument("compute_dtype must be " + legal.to_string() + " for " +
                          std::string(to_string(args.a.dtype)) + " inputs");
}

}  // namespace

const OperatorDescriptor& dot_operator() {
  static const OperatorDescriptor op = describe<DotArgs>(
      {.name = "dot",
       .summary = "the sum of the products of two vectors' elements",
       .maths =
           "y = a[0] b[0] + a[1] b[1] + ... + a[n-1] b[n-1]: any tree over the products gives it, up to rounding.",
       .model =
           "reads every element of both vectors once, two operations for each pair: bound by memory everywhere.",
       .source = "BLAS level 1: Lawson, Hanson, Kincaid and Krogh (1979)",
       .slots = {in("a", &DotArgs::a,
                    {.dtypes = kFloats, .min_rank = 1, .max_rank = 1, .doc = "n elements, any stride"}),
                 in("b", &DotArgs::b,
                    {.dtype_of = "a",
                     .shape_of = "a",
                     .min_rank = 1,
                     .max_rank = 1,
                     .doc = "n elements, any stride"}),
                 out("out", &DotArgs::out, result_of,
                     {.dtypes = kFloats, .dense = true, .free_ones = true, .doc = "one element"})},
       .params = {param("compute_dtype", &DotArgs::compute_dtype,
                        {.doc = "what is accumulated in, at least; default: f64 for f64, else f32",
                         .none = "default"}),
                  param("out_dtype", &DotArgs::out_dtype,
                        {.doc = "the result's dtype; default: the input's", .none = "default"})},
       .check = check,
       .choose = dot_choose,
       .rungs = dot_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(dot, DotArgs, a, b)

}  // namespace rooftile
