#include "rooftile/cases/judges.h"
#include "rooftile/core/describe.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::cpu::kinds {

using lab::test::SelectBug;

Status select(const Call<lab::test::SelectArgs>& call, SelectBug bug) {
  const lab::test::SelectArgs& a = call.args;
  const auto* x = static_cast<const std::int32_t*>(a.x.data);
  auto* y = static_cast<std::int32_t*>(a.y.data);
  const auto limit = static_cast<std::int32_t>(a.limit);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < a.x.numel() - (bug == SelectBug::drops_last ? 1 : 0); ++i) {
    if (x[i] < limit || (bug == SelectBug::takes_equal && x[i] == limit)) y[count++] = x[i];
  }
  *static_cast<std::int64_t*>(a.count.data) = bug == SelectBug::counts_twice ? 2 * count : count;
  return {};
}

}  // namespace rooftile::cpu::kinds

namespace rooftile::lab::test {
namespace {

Status one_element(const SelectArgs&, TensorSpec& spec) {
  spec = {DType::i64, Extents{1}};
  return {};
}

// Which element comes first is a matter of which thread does.
std::vector<Rung<SelectArgs>> rungs() {
  std::vector<Rung<SelectArgs>> all = {
      ROOFTILE_KIND_RUNGS(SelectArgs, select, SelectBug::none, "right"),
      ROOFTILE_KIND_RUNGS(SelectArgs, select, SelectBug::drops_last, "drops_last"),
      ROOFTILE_KIND_RUNGS(SelectArgs, select, SelectBug::counts_twice, "counts_twice"),
      ROOFTILE_KIND_RUNGS(SelectArgs, select, SelectBug::takes_equal, "takes_equal")};
  for (Rung<SelectArgs>& rung : all) rung.determinism = Determinism::not_guaranteed;
  return all;
}

const OperatorDescriptor& select_operator() {
  static const OperatorDescriptor op = describe<SelectArgs>(
      {.name = "select",
       .summary = "the elements below a limit, in any order",
       .maths = "{x[i] : x[i] < limit}",
       .model = "reads every element once",
       .source = "a test",
       .slots = {in("x", &SelectArgs::x, {.dtypes = {DType::i32}, .dense = true}),
                 out("y", &SelectArgs::y, {.dtype_of = "x", .shape_of = "x", .dense = true}),
                 out("count", &SelectArgs::count, one_element, {.dtypes = {DType::i64}, .dense = true})},
       .params = {param("limit", &SelectArgs::limit, {.doc = "of the elements that are chosen"})},
       .choose = choose_right<SelectArgs>,
       .rungs = rungs()});
  return op;
}

Case make_case(std::int64_t n, Fill fill) {
  return {.shape = {{"n", n}}, .dtype = DType::i32, .params = Params(select_operator().params), .fill = fill};
}

Result<CasePlan> plan(const Case& c) { return elementwise_plan(c, Extents{shape_at(c.shape, "n")}); }

Result<Judge> judge(const Case& c, std::span<const HostTensor> inputs) {
  const auto limit = static_cast<std::int32_t>(c.params.get_double("limit"));
  std::vector<std::int32_t> below;
  for (const std::int32_t x : inputs[0].as<std::int32_t>()) {
    if (x < limit) below.push_back(x);
  }
  Selected wanted{.chosen = {}, .in_order = false};
  ROOFTILE_TRY_ASSIGN(wanted.chosen, HostTensor::create(DType::i32, Extents{std::ssize(below)}));
  std::copy(below.begin(), below.end(), wanted.chosen.as<std::int32_t>().begin());
  return selected(std::move(wanted));
}

}  // namespace

Kind select_kind() {
  OperatorCases cases;
  cases.operator_name = "select";
  cases.shapes = {"n"};
  cases.default_case = cases.default_host_case = make_case(1000, Fill::uniform);
  // Falling: the last element is below the limit for certain.
  cases.cases = [] {
    return std::vector<Case>{make_case(1000, Fill::uniform), make_case(777, Fill::small_integers),
                             make_case(501, Fill::falling)};
  };
  cases.plan = plan;
  cases.judge = judge;
  return {
      &select_operator(),
      std::move(cases),
      {{"drops_last", "the count is"}, {"counts_twice", "the count is"}, {"takes_equal", "the count is"}}};
}

}  // namespace rooftile::lab::test
