#include "rooftile/lessons/access_prefetch/access_prefetch_ref.h"

#include <cmath>

namespace rooftile {
namespace {

float worked(float v) {
  for (int step = 0; step < 8; ++step) v = std::fma(v, 0.5f, 0.25f);
  return v;
}

}  // namespace

Result<std::vector<Expected>> access_prefetch_reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  Expected expected;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, x.shape()));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    expected.exact.set(i, worked(static_cast<float>(x.at(i))));
  }
  expected.factor = 0.0;
  expected.rule = "exact: the same roundings in the same order";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
