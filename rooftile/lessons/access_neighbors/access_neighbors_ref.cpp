#include "rooftile/lessons/access_neighbors/access_neighbors_ref.h"

namespace rooftile {

Result<std::vector<Expected>> access_neighbors_reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  Expected expected;
  const std::int64_t d = x.shape()[0];
  const std::int64_t m = x.shape()[1];
  const std::int64_t n = x.shape()[2];
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, Extents{d, m, n, 32}));
  std::int64_t out = 0;
  for (std::int64_t z = 0; z < d; ++z) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t lane = 0; lane < 32; ++lane) {
          const std::int64_t row = 4 * (i / 4) + lane / 8;
          const std::int64_t column = 8 * (j / 8) + lane % 8;
          expected.exact.set(out++, row < m && column < n ? x.at((z * m + row) * n + column) : 0.0);
        }
      }
    }
  }
  expected.factor = 0.0;
  expected.rule = "exact: nothing is computed";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
