#include "rooftile/lessons/access_constant/access_constant_ref.h"

#include <cmath>

namespace rooftile {

Result<std::vector<Expected>> access_constant_reference(const Case& c, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  Expected expected;
  const bool uniform = c.params.get_string("index") == "uniform";
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const std::int64_t first = uniform ? i / 32 : i;
    float acc = 0.0f;
    for (std::int64_t r = 0; r < 64; ++r) {
      acc = std::fma(acc, static_cast<float>(x.at(i)), 1.0f / static_cast<float>((first + r) % 64 + 1));
    }
    expected.exact.set(i, acc);
  }
  expected.factor = 0.0;
  expected.rule = "exact: the same roundings in the same order";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
