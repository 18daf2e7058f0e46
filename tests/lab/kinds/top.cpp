#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "rooftile/cases/judges.h"
#include "rooftile/core/describe.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::cpu::kinds {

using lab::test::TopBug;

Status top(const Call<lab::test::TopArgs>& call, TopBug bug) {
  const lab::test::TopArgs& a = call.args;
  const std::int64_t n = a.x.shape[1];
  for (std::int64_t row = 0; row < a.x.shape[0]; ++row) {
    const auto* x = static_cast<const float*>(a.x.data) + row * n;
    auto* y = static_cast<float*>(a.y.data) + row * a.k;
    auto* index = static_cast<std::int64_t*>(a.index.data) + row * a.k;
    for (std::int64_t place = 0; place < a.k; ++place) {
      std::int64_t best = -1;
      for (std::int64_t i = 0; i < n; ++i) {
        const bool taken =
            std::count(index, index + place, i) > 0 && !(bug == TopBug::takes_twice && place % 2 == 1);
        if (!taken && (best < 0 || x[i] > x[best] || (std::isnan(x[i]) && !std::isnan(x[best])))) best = i;
      }
      y[place] = x[best];
      index[place] = bug == TopBug::wrong_index && place > 0 ? best + 1 : best;
    }
  }
  return {};
}

}  // namespace rooftile::cpu::kinds

namespace rooftile::lab::test {
namespace {

Status values_spec(const TopArgs& args, TensorSpec& spec) {
  spec = {args.x.dtype, Extents{args.x.shape[0], args.k}};
  return {};
}
Status index_spec(const TopArgs& args, TensorSpec& spec) {
  spec = {DType::i64, Extents{args.x.shape[0], args.k}};
  return {};
}

const OperatorDescriptor& top_operator() {
  static const OperatorDescriptor op = describe<TopArgs>(
      {.name = "top",
       .summary = "the k largest of each row, and where they stand",
       .maths = "y[r] = the first k of x[r] in falling order",
       .model = "every row is read k times",
       .source = "a test",
       .slots = {in("x", &TopArgs::x, {.dtypes = {DType::f32}, .min_rank = 2, .max_rank = 2, .dense = true}),
                 out("y", &TopArgs::y, values_spec, {.dtypes = {DType::f32}, .dense = true}),
                 out("index", &TopArgs::index, index_spec, {.dtypes = {DType::i64}, .dense = true})},
       .params = {param("k", &TopArgs::k, {.doc = "how many of each row", .minimum = 1, .maximum = 100})},
       .choose = choose_right<TopArgs>,
       .rungs = {ROOFTILE_KIND_RUNGS(TopArgs, top, TopBug::none, "right"),
                 ROOFTILE_KIND_RUNGS(TopArgs, top, TopBug::takes_twice, "takes_twice"),
                 ROOFTILE_KIND_RUNGS(TopArgs, top, TopBug::wrong_index, "wrong_index")}});
  return op;
}

Case make_case(std::int64_t rows, std::int64_t n, std::int64_t k, Fill fill) {
  Case c{.shape = {{"m", rows}, {"n", n}}, .params = Params(top_operator().params), .fill = fill};
  if (!c.params.set(top_operator().params, "k", std::to_string(k)).ok()) std::abort();
  return c;
}

Result<CasePlan> plan(const Case& c) {
  const Extents shape{shape_at(c.shape, "m"), shape_at(c.shape, "n")};
  return CasePlan{.inputs = {{.dtype = DType::f32, .shape = shape}},
                  .read_bytes = 4.0 * static_cast<double>(shape[0] * shape[1])};
}

Result<Judge> judge(const Case& c, std::span<const HostTensor> inputs) {
  return top_k({.in = &inputs[0], .k = c.params.get_int("k")});
}

}  // namespace

Kind top_kind() {
  OperatorCases cases;
  cases.operator_name = "top";
  cases.shapes = {"m,n"};
  cases.default_case = cases.default_host_case = make_case(5, 200, 8, Fill::small_integers);
  cases.cases = [] {
    return std::vector<Case>{make_case(5, 200, 8, Fill::small_integers),
                             make_case(3, 64, 5, Fill::nan_inside), make_case(2, 33, 33, Fill::special),
                             make_case(1, 1, 1, Fill::uniform)};
  };
  cases.plan = plan;
  cases.judge = judge;
  return {&top_operator(), std::move(cases), {{"takes_twice", "taken before"}, {"wrong_index", "index"}}};
}

}  // namespace rooftile::lab::test
