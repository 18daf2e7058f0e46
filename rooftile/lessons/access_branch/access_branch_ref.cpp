#include "rooftile/lessons/access_branch/access_branch_ref.h"

#include <cmath>

namespace rooftile {
namespace {

float way_of(std::int64_t i, float v) {
  for (int step = 0; step < 32; ++step) {
    v = i % 2 == 0 ? std::fma(v, 0.5f, 0.25f) : (v + 1.0f) / (2.0f + std::fabs(v));
  }
  return v;
}

}  // namespace

Result<std::vector<Expected>> access_branch_reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  Expected expected;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    expected.exact.set(i, way_of(i, static_cast<float>(x.at(i))));
  }
  expected.factor = 0.0;
  expected.rule = "exact: the same roundings in the same order";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
