#include "rooftile/cases/draws.h"
#include "rooftile/core/describe.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::cpu::kinds {

using lab::test::RaggedBug;

Status ragged(const Call<lab::test::RaggedArgs>& call, RaggedBug bug) {
  const lab::test::RaggedArgs& a = call.args;
  const auto* x = static_cast<const float*>(a.x.data);
  const auto* offsets = static_cast<const std::int32_t*>(a.offsets.data);
  const auto* scale = static_cast<const float*>(a.scale.data);
  for (std::int64_t row = 0; row < a.y.numel(); ++row) {
    const std::int64_t last = offsets[row + 1] - (bug == RaggedBug::forgets_last ? 1 : 0);
    if (bug == RaggedBug::leaves_empty && offsets[row] == last) continue;
    float sum = 0;
    for (std::int64_t i = offsets[row]; i < last; ++i)
      sum += x[bug == RaggedBug::reads_gap ? i : i * a.x.strides[0]];
    static_cast<float*>(a.y.data)[row] = scale != nullptr ? sum * scale[row] : sum;
  }
  return {};
}

}  // namespace rooftile::cpu::kinds

namespace rooftile::lab::test {
namespace {

Status one_for_each_row(const RaggedArgs& args, TensorSpec& spec) {
  spec = {DType::f32, Extents{args.offsets.numel() - 1}};
  return {};
}

const OperatorDescriptor& ragged_operator() {
  static const OperatorDescriptor op = describe<RaggedArgs>(
      {.name = "ragged",
       .summary = "sums of rows of several lengths",
       .maths = "y[r] = scale[r] * sum of x[offsets[r]] ... x[offsets[r + 1] - 1]",
       .model = "reads every element once",
       .source = "a test",
       .slots = {in("x", &RaggedArgs::x, {.dtypes = {DType::f32}, .min_rank = 1, .max_rank = 1}),
                 in("offsets", &RaggedArgs::offsets, {.dtypes = {DType::i32}, .dense = true}),
                 in("scale", &RaggedArgs::scale, {.dtypes = {DType::f32}, .dense = true, .optional = true}),
                 out("y", &RaggedArgs::y, one_for_each_row, {.dtypes = {DType::f32}})},
       .choose = choose_right<RaggedArgs>,
       .rungs = {ROOFTILE_KIND_RUNGS(RaggedArgs, ragged, RaggedBug::none, "right"),
                 ROOFTILE_KIND_RUNGS(RaggedArgs, ragged, RaggedBug::leaves_empty, "leaves_empty"),
                 ROOFTILE_KIND_RUNGS(RaggedArgs, ragged, RaggedBug::forgets_last, "forgets_last"),
                 ROOFTILE_KIND_RUNGS(RaggedArgs, ragged, RaggedBug::reads_gap, "reads_gap")}});
  return op;
}

// Elements, rows, and the stride of x; with a stride there is a scale, too.
Case make_case(std::int64_t n, std::int64_t rows, std::int64_t stride) {
  return {.shape = {{"n", n}, {"m", rows}, {"s", stride}},
          .params = Params(ragged_operator().params),
          .fill = Fill::small_integers};
}

Result<CasePlan> plan(const Case& c) {
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t rows = shape_at(c.shape, "m");
  const std::int64_t stride = shape_at(c.shape, "s");
  return CasePlan{.inputs = {{.dtype = DType::f32, .shape = {n}, .strides = {stride}},
                             {.dtype = DType::i32, .shape = {rows + 1}, .draw = drawn_cumulative_lengths(n)},
                             {.dtype = DType::f32, .shape = {rows}, .absent = stride == 1}},
                  .read_bytes = 4.0 * static_cast<double>(n + rows + 1),
                  .write_bytes = 4.0 * static_cast<double>(rows)};
}

Result<std::vector<Expected>> reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& offsets = inputs[1];
  ROOFTILE_TRY_ASSIGN(HostTensor sums, HostTensor::create(DType::f64, Extents{offsets.numel() - 1}));
  for (std::int64_t row = 0; row < sums.numel(); ++row) {
    double sum = 0;
    for (auto i = static_cast<std::int64_t>(offsets.at(row));
         i < static_cast<std::int64_t>(offsets.at(row + 1)); ++i)
      sum += inputs[0].at(i);
    sums.set(row, inputs[2].numel() > 0 ? sum * inputs[2].at(row) : sum);
  }
  return exactly(std::move(sums), "whole numbers");
}

}  // namespace

Kind ragged_kind() {
  OperatorCases cases;
  cases.operator_name = "ragged";
  cases.shapes = {"n,m,s"};
  cases.default_case = cases.default_host_case = make_case(1000, 20, 1);
  cases.cases = [] {
    return std::vector<Case>{make_case(1000, 20, 1), make_case(500, 7, 3), make_case(64, 9, -2),
                             make_case(0, 4, 1)};
  };
  cases.plan = plan;
  cases.reference = reference;
  return {&ragged_operator(),
          std::move(cases),
          {{"leaves_empty", "y element"}, {"forgets_last", "y element"}, {"reads_gap", "y element"}}};
}

}  // namespace rooftile::lab::test
