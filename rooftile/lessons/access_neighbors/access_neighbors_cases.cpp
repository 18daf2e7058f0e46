#include <utility>

#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"

namespace rooftile {
namespace {

Result<std::vector<Expected>> reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  const std::int64_t d = x.shape()[0];
  const std::int64_t m = x.shape()[1];
  const std::int64_t n = x.shape()[2];
  ROOFTILE_TRY_ASSIGN(HostTensor exact, HostTensor::create(DType::f64, Extents{d, m, n, 32}));
  std::int64_t out = 0;
  for (std::int64_t z = 0; z < d; ++z) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t lane = 0; lane < 32; ++lane) {
          const std::int64_t row = 4 * (i / 4) + lane / 8;
          const std::int64_t column = 8 * (j / 8) + lane % 8;
          exact.set(out++, row < m && column < n ? x.at((z * m + row) * n + column) : 0.0);
        }
      }
    }
  }
  return exactly(std::move(exact), "exact: nothing is computed");
}

Case make_case(const Extents& shape, CaseTier tier, Fill fill = Fill::uniform, int offset = 0) {
  return {.shape = {{"d", shape[0]}, {"m", shape[1]}, {"n", shape[2]}},
          .dtype = DType::f32,
          .params = Params(access_neighbors_operator().params),
          .fill = fill,
          .offset = offset,
          .tier = tier};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  // Empty, one point, a warp, a block, and their edges.
  for (const Extents& shape :
       {Extents{0, 3, 4}, Extents{3, 0, 4}, Extents{3, 4, 0}, Extents{1, 1, 1}, Extents{1, 4, 8},
        Extents{8, 8, 8}, Extents{9, 8, 8}, Extents{3, 5, 7}, Extents{2, 9, 33}, Extents{1, 1, 100},
        Extents{17, 3, 2}, Extents{16, 24, 32}}) {
    cases.push_back(make_case(shape, CaseTier::quick));
  }
  for (const int offset : {1, 2, 3})
    cases.push_back(make_case({2, 9, 17}, CaseTier::quick, Fill::uniform, offset));
  cases.push_back(make_case({2, 9, 17}, CaseTier::quick, Fill::special));
  cases.push_back(make_case({2, 9, 17}, CaseTier::quick, Fill::nan_at_last));
  cases.push_back(make_case({20, 50, 100}, CaseTier::full));
  cases.push_back(make_case({512, 363, 363}, CaseTier::huge));  // 2^31 elements of y
  return cases;
}

Result<CasePlan> plan_case(const Case& c) {
  const Extents shape{shape_at(c.shape, "d"), shape_at(c.shape, "m"), shape_at(c.shape, "n")};
  ROOFTILE_TRY_ASSIGN(const std::int64_t points, checked_numel(shape, 32 * size_of(c.dtype)));
  CasePlan plan;
  plan.inputs = {{c.dtype, shape}};
  plan.read_bytes = static_cast<double>(points) * static_cast<double>(size_of(c.dtype));
  plan.write_bytes = 32 * plan.read_bytes;
  return plan;
}

}  // namespace

void register_access_neighbors_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "access_neighbors";
  cases.shapes = {"d,m,n"};
  cases.default_case = make_case({32, 128, 256}, CaseTier::full);
  cases.default_host_case = make_case({16, 64, 64}, CaseTier::full);
  cases.cases = all_cases;
  cases.plan = plan_case;
  cases.reference = reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
