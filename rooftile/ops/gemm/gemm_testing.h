// What gemm's tests have in common: matrices of small whole numbers, and their products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/operator.h"
#include "rooftile/ops/gemm/gemm.h"

namespace rooftile {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Small integers without a period: sums of their products are exact.
inline double number_at(std::int64_t i) { return static_cast<double>(1 + i * i / 5 % 3); }

inline std::vector<double> product(std::int64_t m, std::int64_t n, std::int64_t k) {
  std::vector<double> result(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t l = 0; l < k; ++l)
        result[static_cast<std::size_t>(i * n + j)] += number_at(i * k + l) * number_at(l * n + j);
    }
  }
  return result;
}

// On tests/ops's OnEveryDevice.
template <class Fixture>
class WithMatrices : public Fixture {
 protected:
  template <class Value>
  Tensor tensor(DType dtype, const Extents& shape, Value value) {
    HostTensor host = HostTensor::create(dtype, shape).value();
    for (std::int64_t i = 0; i < host.numel(); ++i) host.set(i, value(i));
    return Tensor::from(this->context(), host.view()).value();
  }
  Tensor numbers(DType dtype, const Extents& shape) { return tensor(dtype, shape, number_at); }
  Tensor filled(DType dtype, const Extents& shape, double value) {
    return tensor(dtype, shape, [value](std::int64_t) { return value; });
  }
  static std::vector<double> values(const Tensor& tensor) {
    std::vector<double> result;
    switch (tensor.dtype()) {
      case DType::f64:
        return tensor.to_vector<double>().value();
      case DType::f32:
        for (const float x : tensor.to_vector<float>().value()) result.push_back(x);
        return result;
      case DType::f16:
        for (const Float16 x : tensor.to_vector<Float16>().value()) result.push_back(to_float(x));
        return result;
      default:
        for (const BFloat16 x : tensor.to_vector<BFloat16>().value()) result.push_back(to_float(x));
        return result;
    }
  }
};

}  // namespace rooftile
