#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/topk/topk_plan.h"
#include "rooftile/ops/topk/topk_table.h"

namespace rooftile {
namespace {

const DTypeSet kDTypes = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8,
                          DType::u8,  DType::i32, DType::u32, DType::i64,  DType::u64};

Status rows_of_k(const TopkArgs& args, DType dtype, TensorSpec& spec) {
  spec.dtype = dtype;
  spec.shape = args.in.shape;
  spec.shape[args.in.rank() - 1] = args.k;
  return {};
}
Status spec_of_values(const TopkArgs& args, TensorSpec& spec) { return rows_of_k(args, args.in.dtype, spec); }
Status spec_of_indices(const TopkArgs& args, TensorSpec& spec) { return rows_of_k(args, DType::i64, spec); }

Status check(const TopkArgs& args) {
  const std::int64_t n = args.in.shape[args.in.rank() - 1];
  if (args.k > n)
    return invalid_argument("k is " + std::to_string(args.k) + ", and a row has " + std::to_string(n) +
                            " elements: ask for at most as many");
  if (n > topk_plan::kMostColumns)
    return unsupported("rows of more than 2^32 - 2 elements: cut them, and take the best of the best");
  if (topk_plan::rows_of(args).count > topk_plan::kMostRows)
    return unsupported("2^31 rows and more: call it for a part of them at a time");
  return {};
}

}  // namespace

const OperatorDescriptor& topk_operator() {
  static const OperatorDescriptor op = describe<TopkArgs>(
      {.name = "topk",
       .summary = "the k largest or smallest elements of each row, and where they stand",
       .maths =
           "of each row the first k of its elements in falling (rising) order; of equal ones the lower index stands first.",
       .model = "reads every element once and writes k values and indices of each row: bound by memory.",
       .source =
           "Alabi et al., Fast k-selection algorithms for graphics processing units (2012); Johnson et al., Billion-scale "
           "similarity search with GPUs (2017)",
       .slots = {in("in", &TopkArgs::in,
                    {.dtypes = kDTypes, .min_rank = 1, .dense = true, .doc = "rows along the last axis"}),
                 out("values", &TopkArgs::values, spec_of_values,
                     {.dtype_of = "in", .dense = true, .doc = "k of each row, the first the largest"}),
                 out("indices", &TopkArgs::indices, spec_of_indices,
                     {.dtypes = {DType::i64}, .dense = true, .doc = "where they stand in their row"})},
       .params = {param("k", &TopkArgs::k,
                        {.doc = "how many of each row", .minimum = 0, .maximum = topk_plan::kMostColumns}),
                  param("largest", &TopkArgs::largest, {.doc = "false: the smallest"}),
                  param("sorted", &TopkArgs::sorted, {.doc = "false: in any order"}),
                  param("stable", &TopkArgs::stable, {.doc = "false: of equal elements any are chosen"})},
       .check = check,
       .choose = topk_choose,
       .rungs = topk_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS_OF_2(topk, TopkArgs, in)

}  // namespace rooftile
