#include <algorithm>
#include <cmath>
#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/elementwise/elementwise.h"
#include "rooftile/ops/elementwise/elementwise_program.h"
#include "rooftile/ops/elementwise/elementwise_table.h"

namespace rooftile {
namespace {

constexpr DTypeSet kDTypes = {DType::f64,    DType::f32, DType::f16, DType::bf16, DType::f8e4m3,
                              DType::f8e5m2, DType::i8,  DType::i16, DType::i32,  DType::i64,
                              DType::u8,     DType::u16, DType::u32, DType::u64};

Status check_count(const ElementwiseArgs& args) {
  if (is_absent(args.b) && !is_absent(args.c))
    return invalid_argument("c is given and b is not: give b first");
  const int needed = elementwise_program::inputs_needed(args.op);
  const int given = elementwise_program::inputs_of(args).count;
  if (needed > 3) {
    return unsupported("the chain asks for " + std::to_string(needed) +
                       " tensors and there are three: divide it into two calls");
  }
  if (given == needed) return {};
  constexpr std::string_view kNames[] = {"a", "a and b", "a, b and c"};
  return invalid_argument("the chain asks for " + std::string(kNames[needed - 1]) + ": " +
                          (given < needed ? "give them all" : "leave the others out"));
}

Status result_of(const ElementwiseArgs& args, TensorSpec& out) {
  ROOFTILE_TRY(check_count(args));
  ROOFTILE_TRY(elementwise_program::check_dtypes(args));
  out.dtype = args.out_dtype.value_or(elementwise_program::natural_dtype(args));
  out.shape = args.a.shape;
  const elementwise_program::Inputs inputs = elementwise_program::inputs_of(args);
  for (const ConstTensorView& view : inputs.span()) {
    if (!elementwise_layout::broadcast(out.shape, view.shape)) {
      return invalid_argument(
          "a, b and c are not broadcast to one shape: an extent of 1 meets any other, others must be equal");
    }
  }
  return {};
}

bool has(const ElementwiseChain& chain, ElementwiseOp op) {
  return std::find(chain.begin(), chain.end(), op) != chain.end();
}

// The numbers that the chain looks at.
Status check_numbers(const ElementwiseArgs& args) {
  const bool clamps = has(args.op, ElementwiseOp::clamp);
  if (clamps && !(args.low <= args.high))
    return invalid_argument("low is above high, or one of them is NaN: clamp needs low <= high");
  const elementwise_program::Compute compute = elementwise_program::compute_of(args, args.out.dtype);
  if (compute == elementwise_program::Compute::f32 || compute == elementwise_program::Compute::f64) return {};
  constexpr double kMost = 9007199254740992;  // 2^53: all whole numbers up to there are doubles
  const double least = compute == elementwise_program::Compute::u64 ? 0 : -kMost;
  const auto is_whole = [&](double x) { return x >= least && x <= kMost && x == std::floor(x); };
  if ((clamps && !(is_whole(args.low) && is_whole(args.high))) ||
      (has(args.op, ElementwiseOp::saxpy) && !is_whole(args.alpha))) {
    return invalid_argument(
        "alpha, low and high must be whole numbers for integers, up to 2^53, and not negative with u64");
  }
  return {};
}

Status check(const ElementwiseArgs& args) {
  if (args.out_dtype && args.out.dtype != *args.out_dtype) {
    return invalid_argument("out_dtype is " + std::string(to_string(*args.out_dtype)) +
                            " and out is another: leave out_dtype to a call without out");
  }
  return check_numbers(args);
}

}  // namespace

const OperatorDescriptor& elementwise_operator() {
  static const OperatorDescriptor op = describe<ElementwiseArgs>(
      {.name = "elementwise",
       .summary = "functions of one, two or three tensors element by element, and chains of them in one pass",
       .maths =
           "out[i] = f(a[i], b[i], c[i]), tensors broadcast as in NumPy. A chain hands its result so far to the next "
           "function: {add, gelu_tanh, mul} is gelu_tanh(a + b) * c.",
       .model =
           "reads every element of the inputs and writes every element of out once; a few operations for each: bound by "
           "memory. A chain that is not fused reads and writes each result in between as well.",
       .source = "the definitions; Hendrycks and Gimpel, Gaussian Error Linear Units (2016)",
       .slots =
           {in("a", &ElementwiseArgs::a, {.dtypes = kDTypes, .doc = "any shape and strides"}),
            in("b", &ElementwiseArgs::b,
               {.dtypes = kDTypes, .optional = true, .doc = "the next tensor that the chain asks for"}),
            in("c", &ElementwiseArgs::c, {.dtypes = kDTypes, .optional = true, .doc = "the one after b"}),
            out("out", &ElementwiseArgs::out, result_of,
                {.dtypes = kDTypes, .may_alias = "a b c", .doc = "the shape that they are broadcast to"})},
       .params =
           {param("op", &ElementwiseArgs::op, {.doc = "the function, or the chain of them"}),
            param("alpha", &ElementwiseArgs::alpha, {.doc = "saxpy's factor, in what is computed in"}),
            param("low", &ElementwiseArgs::low, {.doc = "clamp's lower bound"}),
            param("high", &ElementwiseArgs::high, {.doc = "clamp's upper bound"}),
            param(
                "out_dtype", &ElementwiseArgs::out_dtype,
                {.doc = "the result's dtype; default: a's, of where b's, f32 for real functions of integers",
                 .none = "default"})},
       .check = check,
       .choose = elementwise_choose,
       .rungs = elementwise_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(elementwise, ElementwiseArgs, a)

}  // namespace rooftile
