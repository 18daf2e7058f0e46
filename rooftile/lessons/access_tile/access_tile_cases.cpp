#include <utility>

#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_tile/access_tile.h"

namespace rooftile {
namespace {

Result<std::vector<Expected>> reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  ROOFTILE_TRY_ASSIGN(HostTensor exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t i = 0; i < x.numel(); ++i) exact.set(i, x.at(i));
  return exactly(std::move(exact), "exact: nothing is computed");
}

Case make_case(std::int64_t m, std::int64_t n, CaseTier tier, Fill fill = Fill::uniform, int offset = 0) {
  return {.shape = {{"m", m}, {"n", n}},
          .dtype = DType::f32,
          .params = Params(access_tile_operator().params),
          .fill = fill,
          .offset = offset,
          .tier = tier};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  // Empty, one, the edges of the blocks, and rows that begin at any byte.
  for (const auto& [m, n] : {std::pair{0, 5}, std::pair{5, 0}, std::pair{1, 1}, std::pair{1, 1000},
                             std::pair{1000, 1}, std::pair{8, 32}, std::pair{16, 16}, std::pair{32, 8},
                             std::pair{33, 31}, std::pair{64, 64}, std::pair{65, 63}, std::pair{128, 1025}}) {
    cases.push_back(make_case(m, n, CaseTier::quick));
  }
  for (const int offset : {1, 2, 3})
    cases.push_back(make_case(33, 65, CaseTier::quick, Fill::uniform, offset));
  cases.push_back(make_case(33, 65, CaseTier::quick, Fill::special));
  cases.push_back(make_case(33, 65, CaseTier::quick, Fill::nan_at_last));
  cases.push_back(make_case(1025, 2049, CaseTier::full));
  // More rows than a grid has, and more than 2^31 elements.
  cases.push_back(make_case(1 << 22, 3, CaseTier::huge));
  cases.push_back(make_case(65537, 32771, CaseTier::huge));
  return cases;
}

Result<CasePlan> plan_case(const Case& c) {
  return elementwise_plan(c, {shape_at(c.shape, "m"), shape_at(c.shape, "n")});
}

}  // namespace

void register_access_tile_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "access_tile";
  cases.shapes = {"m,n"};
  cases.default_case = make_case(4096, 4097, CaseTier::full);
  cases.default_host_case = make_case(2048, 2049, CaseTier::full);
  cases.cases = all_cases;
  cases.plan = plan_case;
  cases.reference = reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
