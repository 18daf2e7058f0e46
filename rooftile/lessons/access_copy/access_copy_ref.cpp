#include "rooftile/lessons/access_copy/access_copy_ref.h"

namespace rooftile {

Result<std::vector<Expected>> access_copy_reference(const Case& c, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  Expected expected;
  const std::int64_t offset = c.params.get_int("offset");
  const std::int64_t stride = c.params.get_int("stride");
  const std::int64_t n = shape_at(c.shape, "n");
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, Extents{n}));
  for (std::int64_t i = 0; i < n; ++i) expected.exact.set(i, x.at(offset + i * stride));
  expected.factor = 0.0;
  expected.rule = "exact: nothing is computed";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
