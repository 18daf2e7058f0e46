#include "rooftile/cases/draws.h"
#include "rooftile/cases/judges.h"
#include "rooftile/core/describe.h"
#include "rooftile/core/philox.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::cpu::kinds {

using lab::test::DropoutBug;

Status dropout(const Call<lab::test::DropoutArgs>& call, DropoutBug bug) {
  const lab::test::DropoutArgs& a = call.args;
  const auto* x = static_cast<const float*>(a.x.data);
  auto* state = static_cast<std::uint64_t*>(a.state.data);
  auto* y = static_cast<float*>(a.y.data);
  const auto p = static_cast<float>(a.p);
  const float share = bug == DropoutBug::other_share ? p * 0.75f : p;
  for (std::int64_t i = 0; i < a.x.numel(); ++i) {
    const auto word = static_cast<std::uint64_t>(bug == DropoutBug::depends_on_grid ? i % 128 : i);
    const PhiloxCounter words = philox4x32_10(philox_counter(state[1] + word, 0), philox_key(state[0]));
    y[i] = philox_unit_float(words.x) < share ? 0.0f : x[i] * (1.0f / (1.0f - p));
  }
  if (bug != DropoutBug::frozen) state[1] += static_cast<std::uint64_t>(a.x.numel());
  return {};
}

}  // namespace rooftile::cpu::kinds

namespace rooftile::lab::test {
namespace {

const OperatorDescriptor& dropout_operator() {
  static const OperatorDescriptor op = describe<DropoutArgs>(
      {.name = "dropout",
       .summary = "forgets elements at random and scales the others",
       .maths = "y[i] = u[i] < p ? 0 : x[i] / (1 - p), u[i] the word of Philox at (seed, offset + i)",
       .model = "reads and writes every element once",
       .source = "a test",
       .slots = {in("x", &DropoutArgs::x, {.dtypes = {DType::f32}, .dense = true}),
                 inout("state", &DropoutArgs::state, {.dtypes = {DType::u64}, .dense = true}),
                 out("y", &DropoutArgs::y, {.dtype_of = "x", .shape_of = "x", .dense = true})},
       .params = {param("p", &DropoutArgs::p,
                        {.doc = "the share that is forgotten", .minimum = 0, .maximum = 0.9})},
       .choose = choose_right<DropoutArgs>,
       .rungs = {ROOFTILE_KIND_RUNGS(DropoutArgs, dropout, DropoutBug::none, "right"),
                 ROOFTILE_KIND_RUNGS(DropoutArgs, dropout, DropoutBug::depends_on_grid, "depends_on_grid"),
                 ROOFTILE_KIND_RUNGS(DropoutArgs, dropout, DropoutBug::frozen, "frozen"),
                 ROOFTILE_KIND_RUNGS(DropoutArgs, dropout, DropoutBug::other_share, "other_share")}});
  return op;
}

Case make_case(std::int64_t n) {
  return {.shape = {{"n", n}}, .params = Params(dropout_operator().params), .fill = Fill::normal};
}

Result<CasePlan> plan(const Case& c) {
  const std::int64_t n = shape_at(c.shape, "n");
  const auto seed_and_offset = [](HostTensor& state, std::span<const HostTensor>) -> Status {
    state.as<std::uint64_t>()[0] = 1234;
    state.as<std::uint64_t>()[1] = std::uint64_t{1} << 33;
    return {};
  };
  return CasePlan{.inputs = {{.dtype = DType::f32, .shape = {n}},
                             {.dtype = DType::u64,
                              .shape = {2},
                              .draw = made_from("seed 1234, offset 2^33", seed_and_offset)}},
                  .read_bytes = 4.0 * static_cast<double>(n),
                  .write_bytes = 4.0 * static_cast<double>(n)};
}

// What the words of (seed, offset) say, whatever the launch; and as many of them as p says.
Result<Judge> judge(const Case& c, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  const std::uint64_t seed = inputs[1].as<std::uint64_t>()[0];
  const std::uint64_t offset = inputs[1].as<std::uint64_t>()[1];
  const double p = c.params.get_double("p");
  std::vector<Expected> expected(2);
  ROOFTILE_TRY_ASSIGN(expected[0].exact, HostTensor::create(DType::u64, Extents{2}));
  expected[0].exact.as<std::uint64_t>()[0] = seed;
  expected[0].exact.as<std::uint64_t>()[1] = offset + static_cast<std::uint64_t>(x.numel());
  ROOFTILE_TRY_ASSIGN(expected[1].exact, HostTensor::create(DType::f32, x.shape()));
  expected[1].bitwise = true;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const PhiloxCounter words =
        philox4x32_10(philox_counter(offset + static_cast<std::uint64_t>(i), 0), philox_key(seed));
    const float scaled = x.as<float>()[static_cast<std::size_t>(i)] * (1.0f / (1.0f - static_cast<float>(p)));
    expected[1].exact.as<float>()[static_cast<std::size_t>(i)] =
        philox_unit_float(words.x) < static_cast<float>(p) ? 0.0f : scaled;
  }
  return all_of(
      {distributed({.name = "y",
                    .output = 1,
                    .probabilities = {p, 1 - p},
                    .outcome = [](const HostTensor& y, std::int64_t i) { return y.at(i) == 0.0 ? 0 : 1; }}),
       element_by_element({"state", "y"}, std::move(expected))});
}

}  // namespace

Kind dropout_kind() {
  OperatorCases cases;
  cases.operator_name = "dropout";
  cases.shapes = {"n"};
  cases.default_case = cases.default_host_case = make_case(10000);
  cases.cases = [] { return std::vector<Case>{make_case(10000), make_case(300)}; };
  cases.plan = plan;
  cases.judge = judge;
  return {
      &dropout_operator(),
      std::move(cases),
      {{"depends_on_grid", "y element 128"}, {"frozen", "state element 1"}, {"other_share", "was drawn"}}};
}

}  // namespace rooftile::lab::test
