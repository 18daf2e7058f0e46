#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/gemv/gemv_plan.h"
#include "rooftile/ops/gemv/gemv_table.h"

namespace rooftile {
namespace {

const DTypeSet kFloats = {DType::f64, DType::f32, DType::f16, DType::bf16};

// [b, length] for a batch, else [length].
Extents vector_shape(const GemvArgs& args, bool along_rows) {
  Extents shape;
  if (args.a.rank() == 3) shape.push_back(args.a.shape[0]);
  shape.push_back(args.a.shape[args.a.rank() - (along_rows ? 1 : 2)]);
  return shape;
}

Status spec_of_y(const GemvArgs& args, TensorSpec& y) {
  const Extents wanted = vector_shape(args, !args.transpose);
  if (!(args.x.shape == wanted))
    return invalid_argument("x must have the shape " + wanted.to_string() + ", an element for each of a's " +
                            (args.transpose ? "rows" : "columns"));
  y.dtype = args.a.dtype;
  y.shape = vector_shape(args, args.transpose);
  return {};
}

Status check_layout(const GemvArgs& args) {
  const gemv_plan::Geometry layout = gemv_plan::layout_of(args.a, args.transpose);
  switch (gemv_plan::fault_of(args.a, layout)) {
    case gemv_plan::LayoutFault::no_unit_stride:
      return unsupported(
          "a's elements must lie side by side along its rows or its columns: copy it first, or give one of its last two "
          "strides as 1");
    case gemv_plan::LayoutFault::leading_dimension:
      return invalid_argument("a's leading dimension is " + std::to_string(layout.pitch) + ", and " +
                              std::to_string(layout.columns) +
                              " elements lie side by side: it must be at least as many");
    case gemv_plan::LayoutFault::none:
      break;
  }
  return {};
}

Status check(const GemvArgs& args) {
  ROOFTILE_TRY(check_layout(args));
  if (is_absent(args.c)) {
    if (args.beta == 0) return {};
    return invalid_argument(
        "c is absent and beta is not 0: give what beta multiplies, which may be y itself (y = alpha op(a) x + beta y)");
  }
  if (!(args.c.shape == args.y.shape)) return invalid_argument("c must have the shape of y");
  return {};
}

}  // namespace

const OperatorDescriptor& gemv_operator() {
  static const OperatorDescriptor op = describe<GemvArgs>(
      {.name = "gemv",
       .summary = "a matrix, or its transpose, times a vector",
       .maths = "y = alpha op(A) x + beta c, op(A) being A or its transpose; c may be y.",
       .model =
           "reads every element of the matrix once, two operations for each: bound by memory everywhere. x stays in caches.",
       .source = "BLAS level 2: Dongarra, Du Croz, Hammarling and Hanson (1988)",
       .slots = {in("a", &GemvArgs::a,
                    {.dtypes = kFloats,
                     .min_rank = 2,
                     .max_rank = 3,
                     .doc = "[m,n] or [b,m,n], by rows or by columns, any leading dimension"}),
                 in("x", &GemvArgs::x,
                    {.dtype_of = "a",
                     .min_rank = 1,
                     .max_rank = 2,
                     .doc = "n elements (transpose: m) for each matrix, any stride"}),
                 in("c", &GemvArgs::c,
                    {.dtype_of = "a",
                     .min_rank = 1,
                     .max_rank = 2,
                     .optional = true,
                     .doc = "what beta multiplies, shaped like y; not read where beta is 0"}),
                 out("y", &GemvArgs::y, spec_of_y,
                     {.dtype_of = "a",
                      .min_rank = 1,
                      .max_rank = 2,
                      .may_alias = "c",
                      .doc = "m elements (transpose: n) for each matrix, any stride"})},
       .params = {param("alpha", &GemvArgs::alpha, {.doc = "0: a and x are not read"}),
                  param("beta", &GemvArgs::beta, {.doc = "0: c is not read"}),
                  param("transpose", &GemvArgs::transpose, {.doc = "true: the transpose of a times x"}),
                  case_param<GemvArgs>("pad", {.doc = "elements between the rows of a",
                                               .minimum = 0,
                                               .maximum = 1 << 20,
                                               .none = "none"}),
                  case_param<GemvArgs>("step", {.doc = "elements from one of x, c and y to the next",
                                                .minimum = 1,
                                                .maximum = 1 << 10,
                                                .none = "one"})},
       .check = check,
       .choose = gemv_choose,
       .rungs = gemv_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(gemv, GemvArgs, a, x)

}  // namespace rooftile
