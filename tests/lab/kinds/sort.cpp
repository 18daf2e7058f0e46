#include <algorithm>
#include <cmath>
#include <numeric>

#include "rooftile/cases/draws.h"
#include "rooftile/cases/judges.h"
#include "rooftile/core/describe.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::cpu::kinds {

using lab::test::SortBug;

Status sort(const Call<lab::test::SortArgs>& call, SortBug bug) {
  const lab::test::SortArgs& a = call.args;
  const auto* keys = static_cast<const float*>(a.keys.data);
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.keys.numel()));
  std::iota(order.begin(), order.end(), 0);
  if (bug == SortBug::unstable) std::reverse(order.begin(), order.end());
  const auto precedes = [&](std::int32_t i, std::int32_t j) {
    if (bug == SortBug::loses_nan && (std::isnan(keys[i]) || std::isnan(keys[j]))) return false;
    return keys[i] < keys[j] || (!std::isnan(keys[i]) && std::isnan(keys[j]));
  };
  std::stable_sort(order.begin(), order.end(), precedes);
  for (std::size_t i = 0; i < order.size(); ++i) {
    static_cast<float*>(a.sorted_keys.data)[i] = keys[order[i]];
    static_cast<std::int32_t*>(a.sorted_values.data)[i] = static_cast<const std::int32_t*>(
        a.values.data)[bug == SortBug::forgets_values ? static_cast<std::int32_t>(i) : order[i]];
  }
  return {};
}

}  // namespace rooftile::cpu::kinds

namespace rooftile::lab::test {
namespace {

const OperatorDescriptor& sort_operator() {
  static const OperatorDescriptor op = describe<SortArgs>(
      {.name = "sort",
       .summary = "keys in rising order and the values that came with them, stable",
       .maths = "a permutation p with keys[p[i]] <= keys[p[i + 1]]",
       .model = "every pair of keys is compared",
       .source = "a test",
       .slots = {in("keys", &SortArgs::keys, {.dtypes = {DType::f32}, .dense = true}),
                 in("values", &SortArgs::values, {.dtypes = {DType::i32}, .shape_of = "keys", .dense = true}),
                 out("sorted_keys", &SortArgs::sorted_keys,
                     {.dtype_of = "keys", .shape_of = "keys", .dense = true}),
                 out("sorted_values", &SortArgs::sorted_values,
                     {.dtype_of = "values", .shape_of = "keys", .dense = true})},
       .choose = choose_right<SortArgs>,
       .rungs = {ROOFTILE_KIND_RUNGS(SortArgs, sort, SortBug::none, "right"),
                 ROOFTILE_KIND_RUNGS(SortArgs, sort, SortBug::unstable, "unstable"),
                 ROOFTILE_KIND_RUNGS(SortArgs, sort, SortBug::forgets_values, "forgets_values"),
                 ROOFTILE_KIND_RUNGS(SortArgs, sort, SortBug::loses_nan, "loses_nan")}});
  return op;
}

Case make_case(std::int64_t n, Fill fill) {
  return {.shape = {{"n", n}}, .params = Params(sort_operator().params), .fill = fill};
}

Result<CasePlan> plan(const Case& c) {
  const std::int64_t n = shape_at(c.shape, "n");
  return CasePlan{.inputs = {{.dtype = DType::f32, .shape = {n}},
                             {.dtype = DType::i32, .shape = {n}, .draw = drawn_permutation()}},
                  .read_bytes = 8.0 * static_cast<double>(n),
                  .write_bytes = 8.0 * static_cast<double>(n)};
}

Result<Judge> judge(const Case&, std::span<const HostTensor> inputs) {
  return sorted_pairs({.keys = &inputs[0], .values = &inputs[1]});
}

}  // namespace

Kind sort_kind() {
  OperatorCases cases;
  cases.operator_name = "sort";
  cases.shapes = {"n"};
  cases.default_case = cases.default_host_case = make_case(1000, Fill::small_integers);
  cases.cases = [] {
    std::vector<Case> list = {make_case(0, Fill::uniform), make_case(1, Fill::uniform)};
    for (const Fill fill : {Fill::small_integers, Fill::special, Fill::nan_inside, Fill::any_bits})
      list.push_back(make_case(700, fill));
    return list;
  };
  cases.plan = plan;
  cases.judge = judge;
  return {&sort_operator(),
          std::move(cases),
          {{"unstable", "stable sort"}, {"forgets_values", "stable sort"}, {"loses_nan", "keys"}}};
}

}  // namespace rooftile::lab::test
