#include "rooftile/lessons/access_loop/access_loop_ref.h"

#include <cmath>

namespace rooftile {
namespace {

float after_steps(float v, std::int64_t steps) {
  for (std::int64_t step = 0; step < steps; ++step) v = (v + 1.0f) / (2.0f + std::fabs(v));
  return v;
}

}  // namespace

Result<std::vector<Expected>> access_loop_reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  Expected expected;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    expected.exact.set(i, after_steps(static_cast<float>(x.at(i)), i % 32));
  }
  expected.factor = 0.0;
  expected.rule = "exact: the same roundings in the same order";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
