#include "rooftile/lessons/access_object/access_object_ref.h"

#include <cmath>

namespace rooftile {

Result<std::vector<Expected>> access_object_reference(const Case& c, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  Expected expected;
  const auto a = static_cast<float>(c.params.get_double("a"));
  const auto b = static_cast<float>(c.params.get_double("b"));
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t i = 0; i < x.numel(); ++i)
    expected.exact.set(i, std::fma(a, static_cast<float>(x.at(i)), b));
  expected.factor = 0.0;
  expected.rule = "exact: one rounding";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
