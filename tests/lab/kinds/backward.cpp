#include <cmath>

#include "rooftile/cases/judges.h"
#include "rooftile/core/describe.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::cpu::kinds {

using lab::test::BackwardBug;

Status backward(const Call<lab::test::BackwardArgs>& call, BackwardBug bug) {
  const auto* x = static_cast<const float*>(call.args.x.data);
  auto* dx = static_cast<float*>(call.args.dx.data);
  const std::int64_t n = call.args.x.numel();
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(x[i]);
  if (bug == BackwardBug::not_normalised) sum = static_cast<float>(n);
  const float sign = bug == BackwardBug::wrong_sign ? -1.0f : 1.0f;
  for (std::int64_t i = 0; i < n; ++i) dx[i] = sign * std::exp(x[i]) / sum;
  return {};
}

}  // namespace rooftile::cpu::kinds

namespace rooftile::lab::test {
namespace {

const OperatorDescriptor& backward_operator() {
  static const OperatorDescriptor op = describe<BackwardArgs>(
      {.name = "backward",
       .summary = "the gradient of log(sum(exp(x)))",
       .maths = "dx = exp(x) / sum(exp(x))",
       .model = "reads twice, writes once",
       .source = "a test",
       .slots = {in("x", &BackwardArgs::x, {.dtypes = {DType::f32}, .dense = true}),
                 out("dx", &BackwardArgs::dx, {.dtype_of = "x", .shape_of = "x", .dense = true})},
       .choose = choose_right<BackwardArgs>,
       .rungs = {ROOFTILE_KIND_RUNGS(BackwardArgs, backward, BackwardBug::none, "right"),
                 ROOFTILE_KIND_RUNGS(BackwardArgs, backward, BackwardBug::not_normalised, "not_normalised"),
                 ROOFTILE_KIND_RUNGS(BackwardArgs, backward, BackwardBug::wrong_sign, "wrong_sign")}});
  return op;
}

Case make_case(std::int64_t n) {
  return {.shape = {{"n", n}}, .params = Params(backward_operator().params), .fill = Fill::normal};
}

Result<CasePlan> plan(const Case& c) { return elementwise_plan(c, Extents{shape_at(c.shape, "n")}); }

Result<Judge> judge(const Case& c, std::span<const HostTensor> inputs) {
  const auto loss = [](std::span<const double> x) {
    double sum = 0;
    for (const double value : x) sum += std::exp(value);
    return std::log(sum);
  };
  return gradient({.name = "dx", .x = &inputs[0], .loss = loss, .tolerance = 1e-5}, c.seed);
}

}  // namespace

Kind backward_kind() {
  OperatorCases cases;
  cases.operator_name = "backward";
  cases.shapes = {"n"};
  cases.default_case = cases.default_host_case = make_case(1000);
  cases.cases = [] { return std::vector<Case>{make_case(1000), make_case(33), make_case(3)}; };
  cases.plan = plan;
  cases.judge = judge;
  return {
      &backward_operator(), std::move(cases), {{"not_normalised", "its slope"}, {"wrong_sign", "its slope"}}};
}

}  // namespace rooftile::lab::test
