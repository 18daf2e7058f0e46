#include <cmath>
#include <utility>

#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_registers/access_registers.h"

namespace rooftile {
namespace {

Result<std::vector<Expected>> reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  const std::int64_t n = x.shape()[1];
  ROOFTILE_TRY_ASSIGN(HostTensor exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t j = 0; j < n; ++j) {
    auto largest = static_cast<float>(x.at(j));
    for (std::int64_t k = 1; k < 64; ++k) largest = std::fmax(largest, static_cast<float>(x.at(k * n + j)));
    for (std::int64_t k = 0; k < 64; ++k) {
      exact.set(k * n + j, static_cast<float>(x.at(k * n + j)) - largest);
    }
  }
  return exactly(std::move(exact), "exact: one rounding");
}

Case make_case(std::int64_t n, CaseTier tier, Fill fill = Fill::uniform, int offset = 0) {
  return {.shape = {{"n", n}},
          .dtype = DType::f32,
          .params = Params(access_registers_operator().params),
          .fill = fill,
          .offset = offset,
          .tier = tier};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  // Empty, one, the edges of a warp and of a block.
  for (const std::int64_t n : {0, 1, 31, 32, 33, 255, 256, 257, 2048})
    cases.push_back(make_case(n, CaseTier::quick));
  // Pointers off their alignment.
  for (const int offset : {1, 2, 3}) cases.push_back(make_case(1025, CaseTier::quick, Fill::uniform, offset));
  for (const Fill fill : {Fill::small_integers, Fill::nan_at_last, Fill::special}) {
    cases.push_back(make_case(1025, CaseTier::quick, fill));
  }
  cases.push_back(make_case(65537, CaseTier::full));
  return cases;
}

Result<CasePlan> plan_case(const Case& c) { return elementwise_plan(c, {64, shape_at(c.shape, "n")}, 2); }

}  // namespace

void register_access_registers_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "access_registers";
  cases.shapes = {"n"};
  cases.default_case = make_case(1 << 18, CaseTier::full);
  cases.default_host_case = make_case(1 << 15, CaseTier::full);
  cases.cases = all_cases;
  cases.plan = plan_case;
  cases.reference = reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
