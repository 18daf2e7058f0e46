// The reference of layer_norm and rms_norm: plain loops in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"
#include "rooftile/core/case.h"

namespace rooftile {

// Inputs as they are: x and residual [m, n] without gaps; residual, weight and bias may be empty.
struct NormProblem {
  const HostTensor& x;
  const HostTensor& residual;
  const HostTensor& weight;
  const HostTensor* bias;  // null: the operator has none
  std::int64_t n = 0;
  double eps = 0;
  DType dtype = DType::f32;
  bool centred = true;

  // What is normalised, as the residual keeps it: a sum in f32, rounded.
  [[nodiscard]] double value(std::int64_t i) const {
    if (residual.numel() == 0) return x.at(i);
    return rounded_to(dtype, static_cast<double>(static_cast<float>(x.at(i) + residual.at(i))));
  }
  [[nodiscard]] double weight_at(std::int64_t j) const { return weight.numel() > 0 ? weight.at(j) : 1.0; }
  [[nodiscard]] double bias_at(std::int64_t j) const {
    return bias != nullptr && bias->numel() > 0 ? bias->at(j) : 0.0;
  }
};

// What sound arithmetic in f32 may be off, u being its unit roundoff. A sum is one chain of additions of n terms, 16384 at most
// (gemv_ref.cpp has the rule: eight deviations of a random walk), relatively to the sum of magnitudes. So much is the mean off;
// the variance by its own chain, by a mean of some elements that is off beside their deviation, and by the square of what the
// common mean is off. The square root halves it. Then a difference, three products, a sum, and one rounding to y's dtype.
inline void norm_row(const NormProblem& p, std::int64_t first, std::span<double> y,
                     std::span<double> floors) {
  const auto n = static_cast<double>(p.n);
  const double u = unit_roundoff(DType::f32);
  const double out = 1.01 * unit_roundoff(p.dtype);
  const double least = p.dtype == DType::f16 ? 0x1p-25 : 0x1p-126;
  const double chain = 8 * std::sqrt(std::clamp(n, 1024.0, 16384.0) / 12);
  std::vector<double> v(static_cast<std::size_t>(p.n));
  long double sum = 0;
  double magnitudes = 0;
  for (std::size_t j = 0; j < v.size(); ++j) {
    v[j] = p.value(first + static_cast<std::int64_t>(j));
    sum += v[j];
    magnitudes += std::abs(v[j]) / n;
  }
  const double mean = p.centred ? static_cast<double>(sum / n) : 0.0;
  long double squares = 0;
  for (const double value : v) squares += static_cast<long double>(value - mean) * (value - mean);
  const auto variance = static_cast<double>(squares / n);
  const double deviation = std::sqrt(variance + p.eps);
  const double mean_off = p.centred ? u * (chain + 2) * magnitudes : 0.0;
  const double part_off = p.centred ? 8 * u * magnitudes / deviation : 0.0;
  const double variance_off = u * (chain + 8) + 2 * part_off + mean_off * mean_off / (variance + p.eps);
  for (std::size_t j = 0; j < v.size(); ++j) {
    const auto column = static_cast<std::int64_t>(j);
    const double weight = p.weight_at(column);
    const double bias = p.bias_at(column);
    y[j] = (v[j] - mean) / deviation * weight + bias;
    floors[j] =
        std::abs(weight) / deviation * (std::abs(v[j] - mean) * (variance_off / 2 + 4 * u) + mean_off) +
        3 * u * (std::abs(y[j]) + std::abs(bias)) + out * std::abs(y[j]) + least;
    if (!std::isfinite(floors[j])) floors[j] = least;  // of infinities, which stand in their places
  }
}

// Inputs in slot order: x, residual, weight, and bias where the operator has it. Written slots: residual, y.
inline Result<std::vector<Expected>> norm_reference(const Case& c, std::span<const HostTensor> inputs,
                                                    bool centred) {
  const std::int64_t n = shape_at(c.shape, "n");
  const bool is_vector = c.shape.front().first == "n";
  const std::int64_t rows = is_vector ? 1 : shape_at(c.shape, "m");
  const NormProblem p{.x = inputs[0],
                      .residual = inputs[1],
                      .weight = inputs[2],
                      .bias = inputs.size() > 3 ? &inputs[3] : nullptr,
                      .n = n,
                      .eps = c.params.get_double("eps"),
                      .dtype = c.dtype,
                      .centred = centred};
  Expected sum;
  sum.rule = "one rounding of x + residual to f32, and one to their dtype: exact";
  ROOFTILE_TRY_ASSIGN(sum.exact, HostTensor::create(DType::f64, inputs[1].shape()));
  Expected y;
  y.rule =
      "chains of additions in f32 for mean and variance, a square root, five operations, one rounding to y's dtype";
  const Extents shape = is_vector ? Extents{n} : Extents{rows, n};
  ROOFTILE_TRY_ASSIGN(y.exact, HostTensor::create(DType::f64, shape));
  ROOFTILE_TRY_ASSIGN(y.floors, HostTensor::create(DType::f64, shape));
  const std::int64_t grain =
      std::max<std::int64_t>(1, (std::int64_t{1} << 14) / std::max<std::int64_t>(1, n));
  in_parallel(n > 0 ? rows : 0, grain, [&](std::int64_t first, std::int64_t last) {
    std::vector<double> results(static_cast<std::size_t>(n));
    std::vector<double> floors(static_cast<std::size_t>(n));
    for (std::int64_t r = first; r < last; ++r) {
      norm_row(p, r * n, results, floors);
      for (std::int64_t j = 0; j < n; ++j) {
        if (p.residual.numel() > 0) sum.exact.set(r * n + j, p.value(r * n + j));
        y.exact.set(r * n + j, results[static_cast<std::size_t>(j)]);
        y.floors.set(r * n + j, floors[static_cast<std::size_t>(j)]);
      }
    }
  });
  std::vector<Expected> result;
  result.push_back(std::move(sum));
  result.push_back(std::move(y));
  return result;
}

}  // namespace rooftile
