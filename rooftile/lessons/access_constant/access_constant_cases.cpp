#include <cmath>
#include <string_view>
#include <utility>

#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_constant/access_constant.h"

namespace rooftile {
namespace {

Result<std::vector<Expected>> reference(const Case& c, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  const bool uniform = c.params.get_string("index") == "uniform";
  ROOFTILE_TRY_ASSIGN(HostTensor exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const std::int64_t first = uniform ? i / 32 : i;
    float acc = 0.0f;
    for (std::int64_t r = 0; r < 64; ++r) {
      acc = std::fma(acc, static_cast<float>(x.at(i)), 1.0f / static_cast<float>((first + r) % 64 + 1));
    }
    exact.set(i, acc);
  }
  return exactly(std::move(exact), "exact: the same roundings in the same order");
}

Case make_case(std::string_view index, std::int64_t n, CaseTier tier, Fill fill = Fill::uniform,
               int offset = 0) {
  return {.shape = {{"n", n}},
          .dtype = DType::f32,
          .params = with(access_constant_operator().params, "index", index),
          .fill = fill,
          .offset = offset,
          .tier = tier};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* index : {"uniform", "lane"}) {
    // Empty, one, the edges of a warp and of a block.
    for (const std::int64_t n : edge_lengths()) cases.push_back(make_case(index, n, CaseTier::quick));
    // Pointers off their alignment.
    for (const int offset : {1, 2, 3})
      cases.push_back(make_case(index, 1025, CaseTier::quick, Fill::uniform, offset));
    for (const Fill fill : {Fill::small_integers, Fill::nan_at_last, Fill::special}) {
      cases.push_back(make_case(index, 1025, CaseTier::quick, fill));
    }
    cases.push_back(make_case(index, (1 << 18) + 1, CaseTier::full));
  }
  return cases;
}

Result<CasePlan> plan_case(const Case& c) { return elementwise_plan(c, {shape_at(c.shape, "n")}, 2 * 64); }

}  // namespace

void register_access_constant_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "access_constant";
  cases.shapes = {"n"};
  cases.default_case = make_case("uniform", 1 << 22, CaseTier::full);
  cases.default_host_case = make_case("uniform", 1 << 20, CaseTier::full);
  cases.cases = all_cases;
  cases.plan = plan_case;
  cases.reference = reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
