#include "rooftile/lessons/access_registers/access_registers_ref.h"

#include <cmath>

namespace rooftile {

Result<std::vector<Expected>> access_registers_reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  Expected expected;
  const std::int64_t n = x.shape()[1];
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t j = 0; j < n; ++j) {
    auto largest = static_cast<float>(x.at(j));
    for (std::int64_t k = 1; k < 64; ++k) largest = std::fmax(largest, static_cast<float>(x.at(k * n + j)));
    for (std::int64_t k = 0; k < 64; ++k) {
      expected.exact.set(k * n + j, static_cast<float>(x.at(k * n + j)) - largest);
    }
  }
  expected.factor = 0.0;
  expected.rule = "exact: one rounding";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
