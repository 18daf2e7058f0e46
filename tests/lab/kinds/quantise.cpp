#include <algorithm>
#include <cmath>

#include "rooftile/core/describe.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::cpu::kinds {

using lab::test::QuantiseBug;

Status quantise(const Call<lab::test::QuantiseArgs>& call, QuantiseBug bug) {
  const lab::test::QuantiseArgs& a = call.args;
  const auto* x = static_cast<const float*>(a.x.data);
  float largest = 0;
  for (std::int64_t i = 0; i < a.x.numel(); ++i) largest = std::max(largest, std::abs(x[i]));
  const float scale =
      (bug == QuantiseBug::too_coarse ? 2.0f : 1.0f) * (largest > 0 ? largest / 127.0f : 1.0f);
  for (std::int64_t i = 0; i < a.x.numel(); ++i)
    static_cast<std::int8_t*>(a.q.data)[i] = static_cast<std::int8_t>(std::nearbyint(x[i] / scale));
  *static_cast<float*>(a.scale.data) = bug == QuantiseBug::other_scale ? 1.01f * scale : scale;
  return {};
}

}  // namespace rooftile::cpu::kinds

namespace rooftile::lab::test {
namespace {

Status one_scale(const QuantiseArgs&, TensorSpec& spec) {
  spec = {DType::f32, Extents{1}};
  return {};
}
Status bytes_of_x(const QuantiseArgs& args, TensorSpec& spec) {
  spec = {DType::i8, args.x.shape};
  return {};
}

const OperatorDescriptor& quantise_operator() {
  static const OperatorDescriptor op = describe<QuantiseArgs>(
      {.name = "quantise",
       .summary = "x in steps of a scale",
       .maths = "|x - q scale| <= scale / 2",
       .model = "reads twice, writes once",
       .source = "a test",
       .slots = {in("x", &QuantiseArgs::x, {.dtypes = {DType::f32}, .dense = true}),
                 out("scale", &QuantiseArgs::scale, one_scale, {.dtypes = {DType::f32}, .dense = true}),
                 out("q", &QuantiseArgs::q, bytes_of_x, {.dtypes = {DType::i8}, .dense = true})},
       .choose = choose_right<QuantiseArgs>,
       .rungs = {ROOFTILE_KIND_RUNGS(QuantiseArgs, quantise, QuantiseBug::none, "right"),
                 ROOFTILE_KIND_RUNGS(QuantiseArgs, quantise, QuantiseBug::other_scale, "other_scale"),
                 ROOFTILE_KIND_RUNGS(QuantiseArgs, quantise, QuantiseBug::too_coarse, "too_coarse")}});
  return op;
}

Case make_case(std::int64_t n, Fill fill) {
  return {.shape = {{"n", n}}, .params = Params(quantise_operator().params), .fill = fill};
}

Result<CasePlan> plan(const Case& c) { return elementwise_plan(c, Extents{shape_at(c.shape, "n")}); }

// A joint condition: neither output is right or wrong by itself.
Result<Judge> judge(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  double largest = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i) largest = std::max(largest, std::abs(x.at(i)));
  return Judge([&x, largest](std::span<const HostTensor> outputs) -> Judgement {
    const double scale = outputs[0].at(0);
    if (!(scale * 127 <= 1.05 * largest)) return {.mismatch = "the scale is larger than it must be"};
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const double off = std::abs(x.at(i) - outputs[1].at(i) * scale);
      if (!(off <= 0.501 * scale))
        return {.mismatch = "element " + std::to_string(i) + " is more than half a step off"};
    }
    return {};
  });
}

}  // namespace

Kind quantise_kind() {
  OperatorCases cases;
  cases.operator_name = "quantise";
  cases.shapes = {"n"};
  cases.default_case = cases.default_host_case = make_case(1000, Fill::normal);
  cases.cases = [] {
    return std::vector<Case>{make_case(1000, Fill::normal), make_case(300, Fill::uniform)};
  };
  cases.plan = plan;
  cases.judge = judge;
  return {&quantise_operator(),
          std::move(cases),
          {{"other_scale", "half a step"}, {"too_coarse", "larger than it must"}}};
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (Kind (*make)() : {update_kind, select_kind, sort_kind, top_kind, dropout_kind, ragged_kind,
                         product_kind, backward_kind, quantise_kind})
    kinds.push_back(make());
  return kinds;
}

}  // namespace rooftile::lab::test
