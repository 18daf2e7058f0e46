#include <cmath>
#include <utility>

#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_branch/access_branch.h"

namespace rooftile {
namespace {

float way_of(std::int64_t i, float v) {
  for (int step = 0; step < 32; ++step) {
    v = i % 2 == 0 ? std::fma(v, 0.5f, 0.25f) : (v + 1.0f) / (2.0f + std::fabs(v));
  }
  return v;
}

Result<std::vector<Expected>> reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  ROOFTILE_TRY_ASSIGN(HostTensor exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    exact.set(i, way_of(i, static_cast<float>(x.at(i))));
  }
  return exactly(std::move(exact), "exact: the same roundings in the same order");
}

Case make_case(std::int64_t n, CaseTier tier, Fill fill = Fill::uniform, int offset = 0) {
  return {.shape = {{"n", n}},
          .dtype = DType::f32,
          .params = Params(access_branch_operator().params),
          .fill = fill,
          .offset = offset,
          .tier = tier};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  // Empty, one, the edges of a warp and of a block.
  for (const std::int64_t n : edge_lengths()) cases.push_back(make_case(n, CaseTier::quick));
  // Pointers off their alignment.
  for (const int offset : {1, 2, 3}) cases.push_back(make_case(1025, CaseTier::quick, Fill::uniform, offset));
  for (const Fill fill : {Fill::small_integers, Fill::nan_at_last, Fill::special}) {
    cases.push_back(make_case(1025, CaseTier::quick, fill));
  }
  cases.push_back(make_case((1 << 18) + 1, CaseTier::full));
  return cases;
}

Result<CasePlan> plan_case(const Case& c) {
  return elementwise_plan(c, {shape_at(c.shape, "n")}, 80);  // (64 + 96) / 2
}

}  // namespace

void register_access_branch_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "access_branch";
  cases.shapes = {"n"};
  cases.default_case = make_case(1 << 24, CaseTier::full);
  cases.default_host_case = make_case(1 << 20, CaseTier::full);
  cases.cases = all_cases;
  cases.plan = plan_case;
  cases.reference = reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
