#include <cmath>

#include "rooftile/cases/draws.h"
#include "rooftile/core/describe.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::cpu::kinds {

using lab::test::UpdateBug;

Status update(const Call<lab::test::UpdateArgs>& call, UpdateBug bug) {
  const lab::test::UpdateArgs& a = call.args;
  auto* table = static_cast<float*>(a.table.data);
  const auto* index = static_cast<const std::int32_t*>(a.index.data);
  const auto* value = static_cast<const float*>(a.value.data);
  const std::int64_t rows = a.table.numel();
  for (std::int64_t i = 0; i < a.index.numel(); ++i) {
    std::int64_t row = index[i];
    if (row < 0 || row >= rows) {
      if (bug == UpdateBug::silent) continue;
      if (bug != UpdateBug::clamps) {
        *call.workspace.error_word = 1;
        continue;
      }
      row = row < 0 ? 0 : rows - 1;
    }
    table[row] = bug == UpdateBug::overwrites ? value[i] : table[row] + value[i];
  }
  return {};
}

}  // namespace rooftile::cpu::kinds

namespace rooftile::lab::test {
namespace {

const OperatorDescriptor& update_operator() {
  static const OperatorDescriptor op = describe<UpdateArgs>(
      {.name = "update",
       .summary = "adds values to the rows that indices name",
       .maths = "table[index[i]] += value[i]",
       .model = "as many atomic additions as indices",
       .source = "a test",
       .slots = {inout("table", &UpdateArgs::table, {.dtypes = {DType::f32}, .dense = true}),
                 in("index", &UpdateArgs::index, {.dtypes = {DType::i32}, .dense = true}),
                 in("value", &UpdateArgs::value,
                    {.dtypes = {DType::f32}, .shape_of = "index", .dense = true})},
       .choose = choose_right<UpdateArgs>,
       .rungs = {ROOFTILE_KIND_RUNGS(UpdateArgs, update, UpdateBug::none, "right"),
                 ROOFTILE_KIND_RUNGS(UpdateArgs, update, UpdateBug::overwrites, "overwrites"),
                 ROOFTILE_KIND_RUNGS(UpdateArgs, update, UpdateBug::clamps, "clamps"),
                 ROOFTILE_KIND_RUNGS(UpdateArgs, update, UpdateBug::silent, "silent")}});
  return op;
}

Case make_case(std::int64_t rows, std::int64_t n) {
  return {.shape = {{"m", rows}, {"n", n}}, .params = Params(update_operator().params)};
}

// Whole numbers, so that the order of additions does not show; every eighth index is no row of the table.
Result<CasePlan> plan(const Case& c) {
  const std::int64_t rows = shape_at(c.shape, "m");
  const std::int64_t n = shape_at(c.shape, "n");
  return CasePlan{.inputs = {{.dtype = DType::f32, .shape = {rows}, .draw = drawn_by(Fill::small_integers)},
                             {.dtype = DType::i32, .shape = {n}, .draw = drawn_indices(0, rows, 8)},
                             {.dtype = DType::f32, .shape = {n}, .draw = drawn_by(Fill::small_integers)}},
                  .read_bytes = 12.0 * static_cast<double>(n),
                  .write_bytes = 4.0 * static_cast<double>(n),
                  .error_word = n > 0 ? 1u : 0u};
}

Result<std::vector<Expected>> reference(const Case&, std::span<const HostTensor> inputs) {
  ROOFTILE_TRY_ASSIGN(HostTensor table, HostTensor::create(DType::f64, inputs[0].shape()));
  for (std::int64_t i = 0; i < table.numel(); ++i) table.set(i, inputs[0].at(i));
  for (std::int64_t i = 0; i < inputs[1].numel(); ++i) {
    const auto row = static_cast<std::int64_t>(inputs[1].at(i));
    if (row >= 0 && row < table.numel()) table.set(row, table.at(row) + inputs[2].at(i));
  }
  return exactly(std::move(table), "whole numbers");
}

}  // namespace

Kind update_kind() {
  OperatorCases cases;
  cases.operator_name = "update";
  cases.shapes = {"m,n"};
  cases.default_case = cases.default_host_case = make_case(100, 1000);
  cases.cases = [] { return std::vector<Case>{make_case(100, 1000), make_case(3, 500), make_case(1000, 0)}; };
  cases.plan = plan;
  cases.reference = reference;
  return {&update_operator(),
          std::move(cases),
          {{"overwrites", "table element"}, {"clamps", "reported error 0"}, {"silent", "reported error 0"}}};
}

}  // namespace rooftile::lab::test
