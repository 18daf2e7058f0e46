#include <string>
#include <utility>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/gemm/gemm_model.h"
#include "rooftile/ops/gemm/gemm_table.h"

namespace rooftile {
namespace {

const DTypeSet kFloats = {DType::f64, DType::f32, DType::f16, DType::bf16};

DTypeSet out_dtypes(DType in) {
  if (size_of(in) == 2) return {in, DType::f32};
  return {in};
}

// Rows and columns of op(x), whose rank is 2 at least.
struct Extent2 {
  std::int64_t rows;
  std::int64_t columns;
};
Extent2 extent_of(const ConstTensorView& x, bool is_transposed) {
  const std::int64_t rows = x.shape[x.rank() - 2];
  const std::int64_t columns = x.shape[x.rank() - 1];
  return is_transposed ? Extent2{columns, rows} : Extent2{rows, columns};
}

std::int64_t batch_of(const ConstTensorView& x) { return x.rank() == 3 ? x.shape[0] : 1; }

Status shape_error(const std::string& name, const ConstTensorView& x, const std::string& wanted) {
  return invalid_argument(name + " is " + x.shape.to_string() + " and must be " + wanted);
}

Status result_of(const GemmArgs& args, TensorSpec& out) {
  const Extent2 a = extent_of(args.a, args.transpose_a);
  const Extent2 b = extent_of(args.b, args.transpose_b);
  if (a.columns != b.rows) {
    return invalid_argument("op(a) has " + std::to_string(a.columns) + " columns and op(b) " +
                            std::to_string(b.rows) + " rows: they must be as many (k); a is " +
                            args.a.shape.to_string() + ", b is " + args.b.shape.to_string());
  }
  std::int64_t batches = 1;
  bool has_batch = false;
  for (const ConstTensorView* x : {&args.a, &args.b, &args.c}) {
    if (is_absent(*x) || x->rank() < 3) continue;
    has_batch = true;
    if (x->shape[0] != 1 && batches != 1 && x->shape[0] != batches)
      return invalid_argument("batches of " + std::to_string(batches) + " and of " +
                              std::to_string(x->shape[0]) + ": they must be as many, or 1");
    if (x->shape[0] != 1) batches = x->shape[0];
  }
  out.dtype = args.out_dtype.value_or(args.a.dtype);
  out.shape = has_batch ? Extents{batches, a.rows, b.columns} : Extents{a.rows, b.columns};
  return {};
}

// A row that overlaps the next one, which no matrix in memory has; a stride of 0 repeats one on purpose.
Status check_leading_dimension(const std::string& name, const ConstTensorView& x) {
  const int rank = x.rank();
  for (const int inner : {rank - 1, rank - 2}) {
    const int outer = 2 * rank - 3 - inner;
    if (x.strides[inner] != 1 || x.shape[outer] < 2 || x.shape[inner] < 2) continue;
    const std::int64_t leading = x.strides[outer] < 0 ? -x.strides[outer] : x.strides[outer];
    if (leading != 0 && leading != 1 && leading < x.shape[inner]) {
      return invalid_argument(name + " has a leading dimension of " + std::to_string(leading) +
                              ", and its rows (columns) have " + std::to_string(x.shape[inner]) +
                              " elements: it must be that at least");
    }
    if (leading == 1) {
      return invalid_argument(
          name + " has strides " + x.strides.to_string() +
          ": its rows and columns overlap; one stride must be the other axis' extent at least");
    }
  }
  return {};
}

Status check_dtypes(const GemmArgs& args) {
  const DType out = args.out.dtype;
  const DTypeSet legal = out_dtypes(args.a.dtype);
  if (!legal.contains(out))
    return invalid_argument("out is " + std::string(to_string(out)) + " and must be " + legal.to_string() +
                            " for " + std::string(to_string(args.a.dtype)) + " operands");
  if (args.out_dtype && out != *args.out_dtype)
    return invalid_argument("out_dtype is " + std::string(to_string(*args.out_dtype)) +
                            " and out is another: leave out_dtype to a call without out");
  for (const auto& [name, x] : {std::pair("c", &args.c), std::pair("bias", &args.bias)}) {
    if (!is_absent(*x) && x->dtype != out)
      return invalid_argument(std::string(name) + " is " + std::string(to_string(x->dtype)) +
                              " and must be of out's dtype, " + std::string(to_string(out)));
  }
  return {};
}

Status check(const GemmArgs& args) {
  ROOFTILE_TRY(check_dtypes(args));
  ROOFTILE_TRY(check_leading_dimension("a", args.a));
  ROOFTILE_TRY(check_leading_dimension("b", args.b));
  const Extent2 out = extent_of(args.out, false);
  if (!is_absent(args.c)) {
    const Extent2 c = extent_of(args.c, false);
    const bool has_batches = batch_of(args.c) == 1 || batch_of(args.c) == batch_of(args.out);
    if (c.rows != out.rows || c.columns != out.columns || !has_batches)
      return shape_error("c", args.c, "of out's shape, " + args.out.shape.to_string());
    ROOFTILE_TRY(check_leading_dimension("c", args.c));
  }
  if (!is_absent(args.bias) && args.bias.shape[0] != out.columns)
    return shape_error("bias", args.bias, "[" + std::to_string(out.columns) + "], out's columns");
  return {};
}

}  // namespace

const OperatorDescriptor& gemm_operator() {
  static const OperatorDescriptor op = describe<GemmArgs>(
      {.name = "gemm",
       .summary = "the product of two matrices, scaled and added to a third, with bias and activation",
       .maths =
           "out[i][j] = activation(alpha (a[i][0] b[0][j] + ... + a[i][k-1] b[k-1][j]) + beta c[i][j] + bias[j])",
       .model =
           "2 m n k operations on m k + k n + m n elements: bound by arithmetic where m, n and k are some hundreds.",
       .source = "BLAS level 3: Dongarra, Du Croz, Hammarling and Duff (1990)",
       .slots =
           {in("a", &GemmArgs::a,
               {.dtypes = kFloats, .min_rank = 2, .max_rank = 3, .doc = "[m,k], or [k,m] to be transposed"}),
            in("b", &GemmArgs::b,
               {.dtype_of = "a", .min_rank = 2, .max_rank = 3, .doc = "[k,n], or [n,k] to be transposed"}),
            in("c", &GemmArgs::c,
               {.dtypes = kFloats, .min_rank = 2, .max_rank = 3, .optional = true, .doc = "[m,n]"}),
            in("bias", &GemmArgs::bias,
               {.dtypes = kFloats,
                .min_rank = 1,
                .max_rank = 1,
                .optional = true,
                .doc = "[n], added to each row"}),
            out("out", &GemmArgs::out, result_of,
                {.dtypes = kFloats, .min_rank = 2, .max_rank = 3, .may_alias = "c", .doc = "[m,n]"})},
       .params = {param("transpose_a", &GemmArgs::transpose_a, {.doc = "a is [k,m]"}),
                  param("transpose_b", &GemmArgs::transpose_b, {.doc = "b is [n,k]"}),
                  param("alpha", &GemmArgs::alpha, {.doc = "the factor of the product"}),
                  param("beta", &GemmArgs::beta, {.doc = "the factor of c; 0: c is not read"}),
                  param("activation", &GemmArgs::activation, {.doc = "of each element, at last"}),
                  param("out_dtype", &GemmArgs::out_dtype,
                        {.doc = "the result's dtype; default: the operands'", .none = "default"}),
                  case_param<GemmArgs>("with_c", {.doc = "a case's c: 1", .minimum = 0, .maximum = 1}),
                  case_param<GemmArgs>("with_bias", {.doc = "a case's bias: 1", .minimum = 0, .maximum = 1}),
                  case_param<GemmArgs>("padding", {.doc = "elements between the rows of a case's matrices",
                                                   .minimum = 0,
                                                   .maximum = 1024}),
                  case_param<GemmArgs>("column_major",
                                       {.doc = "the columns of a case's matrices lie in memory: 1",
                                        .minimum = 0,
                                        .maximum = 1}),
                  case_param<GemmArgs>(
                      "ramp", {.doc = "a[i][j] = i + j and b[i][j] = i - j: 1", .minimum = 0, .maximum = 1})},
       .check = check,
       .choose = gemm_choose,
       .explain = gemm_explain,
       .rungs = gemm_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(gemm, GemmArgs, a, b)

}  // namespace rooftile
