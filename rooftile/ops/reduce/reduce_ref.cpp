#include "rooftile/ops/reduce/reduce_ref.h"

#include <cmath>
#include <cstdint>

namespace rooftile {
namespace {

// The same sum in the operator's own precision, by a method that is known to be sound: pairwise, fp32.
float pairwise_sum(const float* x, std::int64_t n) {
  if (n <= 64) {
    float acc = 0.0f;
    for (std::int64_t i = 0; i < n; ++i) acc += x[i];
    return acc;
  }
  const std::int64_t half = n / 2;
  return pairwise_sum(x, half) + pairwise_sum(x + half, n - half);
}

Result<HostTensor> scalar(DType dtype) { return HostTensor::create(dtype, Extents{}); }

Result<Expected> sum_of_floats(const Case& c, const HostTensor& in) {
  const std::span<const float> x = in.as<float>();
  double sum = 0.0;
  double sum_of_squares = 0.0;
  for (float value : x) {
    sum += value;
    sum_of_squares += static_cast<double>(value) * value;
  }
  Expected expected;
  ROOFTILE_TRY_ASSIGN(expected.exact, scalar(DType::f64));
  ROOFTILE_TRY_ASSIGN(expected.same_precision, scalar(DType::f64));
  expected.exact.as<double>()[0] = sum;
  expected.same_precision.as<double>()[0] = pairwise_sum(x.data(), static_cast<std::int64_t>(x.size()));

  constexpr double kLargestInteger = 8.0;     // of Fill::small_integers
  constexpr double kExactIntegers = 0x1p24;   // fp32 holds every integer up to here
  if (c.fill == Fill::small_integers && static_cast<double>(x.size()) * kLargestInteger <= kExactIntegers) {
    expected.factor = 0.0;
    expected.floor = 0.0;
    expected.rule = "exact: every partial sum is an integer below 2^24";
    return expected;
  }
  // A serial chain of L additions of random-signed terms rounds off u * sqrt(L * n / 24) * rms(x) in all, where
  // u = 2^-24; four times that, for the longest chain that a rung may have. One element left out of a million is
  // a hundred times larger.
  constexpr double kLongestChain = 1024.0;
  expected.factor = 2.0;
  expected.floor = 4.0 * 0x1p-24 * std::sqrt(kLongestChain / 24.0 * sum_of_squares);
  expected.rule = "twice the error of a pairwise fp32 sum, plus the rounding of serial chains of 1024 additions";
  return expected;
}

Result<Expected> exact_result(const Case& c, const HostTensor& in) {
  Expected expected;
  expected.factor = 0.0;
  expected.floor = 0.0;
  expected.rule = "exact";
  const bool is_max = c.params.get_string("op") == "max";
  if (c.dtype == DType::f32) {
    ROOFTILE_TRY_ASSIGN(expected.exact, scalar(DType::f64));
    double largest = -INFINITY;
    for (float value : in.as<float>()) {
      if (std::isnan(value) || value > largest) largest = value;
      if (std::isnan(largest)) break;
    }
    expected.exact.as<double>()[0] = largest;
    return expected;
  }
  if (is_max) {
    ROOFTILE_TRY_ASSIGN(expected.exact, scalar(DType::i32));
    std::int32_t largest = in.as<std::int32_t>()[0];
    for (std::int32_t value : in.as<std::int32_t>()) largest = value > largest ? value : largest;
    expected.exact.as<std::int32_t>()[0] = largest;
    return expected;
  }
  ROOFTILE_TRY_ASSIGN(expected.exact, scalar(DType::i64));
  std::int64_t sum = 0;
  for (std::int32_t value : in.as<std::int32_t>()) sum += value;
  expected.exact.as<std::int64_t>()[0] = sum;
  return expected;
}

}  // namespace

Result<std::vector<Expected>> reduce_reference(const Case& c, std::span<const HostTensor> inputs) {
  const bool rounded = c.dtype == DType::f32 && c.params.get_string("op") == "sum";
  Result<Expected> expected = rounded ? sum_of_floats(c, inputs[0]) : exact_result(c, inputs[0]);
  if (!expected.ok()) return expected.status();
  std::vector<Expected> all;
  all.push_back(std::move(*expected));
  return all;
}

}  // namespace rooftile
