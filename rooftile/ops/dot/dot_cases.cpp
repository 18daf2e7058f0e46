#include <array>
#include <string_view>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/ops/dot/dot.h"
#include "rooftile/ops/dot/dot_plan.h"
#include "rooftile/ops/dot/dot_ref.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 4> kDTypes = {DType::f32, DType::f16, DType::bf16, DType::f64};

struct Spec {
  std::int64_t n = 0;
  DType dtype = DType::f32;
  std::string_view compute = "default";
  std::string_view out = "default";
  Fill fill = Fill::uniform;
  int offset = 0;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = dot_operator().params;
  Params values = with(params, "compute_dtype", spec.compute);
  (void)values.set(params, "out_dtype", spec.out).ok();  // legal: from the lists here
  return {.shape = {{"n", spec.n}},
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .tier = spec.tier};
}

// Around a vector of 16 bytes, a block's smallest tile, and a full one.
std::vector<std::int64_t> edges_of(DType dtype) {
  const auto vector = dot_plan::kVectorBytes / static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t block = vector * dot_plan::kPassBlock;
  const std::int64_t tile = block * dot_plan::kVectorsInFlight;
  return {0, 1, 2, 31, 33, vector + 5, vector + 6, 257, block - 1, block + 1, tile + 3, 3 * tile + 5};
}

void add_edges(std::vector<Case>& cases, DType dtype, std::string_view compute) {
  for (const std::int64_t n : edges_of(dtype))
    cases.push_back(make_case({.n = n, .dtype = dtype, .compute = compute}));
  for (const int offset : {1, 2, 3}) {
    for (const std::int64_t n : {5, 1025, 20011})
      cases.push_back(make_case({.n = n, .dtype = dtype, .compute = compute, .offset = offset}));
  }
  for (const std::int64_t n : {3, 16, 1025, 20011})
    cases.push_back(make_case({.n = n, .dtype = dtype, .compute = compute, .fill = Fill::small_integers}));
  for (const Fill fill : {Fill::nan_inside, Fill::nan_at_last})
    cases.push_back(make_case({.n = 4099, .dtype = dtype, .compute = compute, .fill = fill}));
  cases.push_back(make_case({.n = 33, .dtype = dtype, .compute = compute, .fill = Fill::equal}));
}

std::vector<Case> dot_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) add_edges(cases, dtype, "default");
  add_edges(cases, DType::f32, "f64");
  add_edges(cases, DType::f16, "f16");
  add_edges(cases, DType::bf16, "bf16");
  for (const DType dtype : kDTypes) {
    for (const std::string_view out : {"f64", "f32", "f16", "bf16"})
      cases.push_back(make_case({.n = 4097, .dtype = dtype, .out = out}));
    cases.push_back(make_case({.n = (1 << 21) + 1, .dtype = dtype, .tier = CaseTier::full}));
    cases.push_back(make_case({.n = 1234567, .dtype = dtype, .offset = 1, .tier = CaseTier::full}));
  }
  // Many tiles of every block on the simulated SM, too.
  cases.push_back(make_case({.n = 1 << 19}));
  cases.push_back(make_case({.n = 1 << 19, .dtype = DType::f16, .compute = "f16"}));
  cases.push_back(make_case({.n = 1 << 22, .dtype = DType::bf16, .compute = "bf16", .tier = CaseTier::full}));
  cases.push_back(make_case({.n = 1 << 28, .tier = CaseTier::huge}));
  cases.push_back(make_case({.n = (std::int64_t{1} << 31) + 1, .dtype = DType::f16, .tier = CaseTier::huge}));
  return cases;
}

Result<CasePlan> plan_case(const Case& c) {
  const std::int64_t n = shape_at(c.shape, "n");
  ROOFTILE_TRY_ASSIGN(const std::int64_t checked, checked_numel(Extents{n}, size_of(c.dtype)));
  CasePlan plan;
  plan.inputs = {{c.dtype, Extents{checked}}, {c.dtype, Extents{checked}}};
  plan.read_bytes = 2 * static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
  plan.write_bytes = static_cast<double>(size_of(c.params.get_optional_dtype("out_dtype").value_or(c.dtype)));
  plan.flops = 2 * static_cast<double>(n);
  return plan;
}

}  // namespace

void register_dot_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "dot";
  cases.shapes = {"n"};
  cases.default_case = make_case({.n = 1 << 28, .tier = CaseTier::full});
  cases.default_host_case = make_case({.n = 1 << 25, .tier = CaseTier::full});
  cases.cases = dot_cases;
  cases.plan = plan_case;
  cases.reference = dot_reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
