#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/select/select_plan.h"
#include "rooftile/ops/select/select_table.h"

namespace rooftile {
namespace {

const DTypeSet kDTypes = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8,
                          DType::u8,  DType::i32, DType::u32, DType::i64,  DType::u64};

Status spec_of_count(const SelectArgs&, TensorSpec& count) {
  count = {DType::i64, Extents{1}};
  return {};
}

Status check(const SelectArgs& args) {
  const bool has_flags = !is_absent(args.flags);
  if (args.op == SelectOp::flagged && !has_flags)
    return invalid_argument("flags must be there: op=flagged asks them");
  if (has_flags && (args.op == SelectOp::greater_than || args.op == SelectOp::unique))
    return invalid_argument("flags are asked by op=flagged and op=partition only: leave them out");
  return {};
}

}  // namespace

const OperatorDescriptor& select_operator() {
  static const OperatorDescriptor op = describe<SelectArgs>(
      {.name = "select",
       .summary = "the elements that something is true of, in their order, and their count",
       .maths =
           "y[r(i)] = x[i] for every i that is chosen, r(i) being the number of chosen elements in front of it: an exclusive "
           "sum of ones and zeros.",
       .model =
           "reads every element once (and a byte for each flag), writes the chosen ones once: bound by memory.",
       .source =
           "Blelloch, Prefix sums and their applications (1990); Merrill and Garland, Single-pass Parallel Prefix Scan with "
           "Decoupled Look-back (2016)",
       .slots = {in("in", &SelectArgs::in,
                    {.dtypes = kDTypes, .min_rank = 1, .max_rank = 1, .dense = true, .doc = "a vector"}),
                 in("flags", &SelectArgs::flags,
                    {.dtypes = {DType::u8},
                     .shape_of = "in",
                     .dense = true,
                     .optional = true,
                     .doc = "not 0: chosen"}),
                 out("out", &SelectArgs::out,
                     {.dtype_of = "in",
                      .shape_of = "in",
                      .dense = true,
                      .doc = "the chosen ones, then what was there"}),
                 out("count", &SelectArgs::count, spec_of_count,
                     {.dtypes = {DType::i64}, .dense = true, .doc = "how many were chosen"})},
       .params =
           {param("op", &SelectArgs::op, {.doc = "what an element is chosen by"}),
            param("threshold", &SelectArgs::threshold, {.doc = "chosen are elements above it"}),
            case_param<SelectArgs>(
                "density",
                {.doc =
                     "the share of elements (flags, runs) that a case draws to be chosen; none: the fill's",
                 .minimum = 0,
                 .maximum = 1}),
            param("stable", &SelectArgs::stable, {.doc = "the chosen keep their order"})},
       .check = check,
       .choose = select_choose,
       .rungs = select_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS_OF_2(select, SelectArgs, in)

}  // namespace rooftile
