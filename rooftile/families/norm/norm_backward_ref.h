// The reference of the norms' backward passes: plain loops in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"
#include "rooftile/core/case.h"

namespace rooftile {

// An element's part of dweight and dbias, and what it may be off.
struct ColumnTerm {
  double weight = 0;
  double weight_off = 0;
  double bias = 0;
};

// One row's dx and its tolerance, and its terms of the columns. Tolerances: norm_ref.h has those of mean and deviation; means of
// gradients are chains of n terms, and off by what the normalised elements in them are off.
inline void norm_backward_row(std::span<const HostTensor> inputs, const Case& c, bool centred,
                              std::int64_t row, std::int64_t n, HostTensor& dx, HostTensor& floors,
                              std::span<ColumnTerm> terms) {
  const HostTensor& x = inputs[0];
  const HostTensor& dy = inputs[1];
  const HostTensor& weight = inputs[2];
  const HostTensor& dsum = inputs[3];
  const double eps = c.params.get_double("eps");
  const double u = unit_roundoff(DType::f32);
  const double out = 1.01 * unit_roundoff(c.dtype);
  const double least = c.dtype == DType::f16 ? 0x1p-25 : 0x1p-126;
  const auto length = static_cast<double>(n);
  const double chain = 8 * std::sqrt(std::clamp(length, 1024.0, 16384.0) / 12);
  const auto g_at = [&](std::int64_t j) {
    return dy.at(row * n + j) * (weight.numel() > 0 ? weight.at(j) : 1.0);
  };
  long double sum = 0;
  double magnitudes = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    sum += x.at(row * n + j);
    magnitudes += std::abs(x.at(row * n + j)) / length;
  }
  const double mean = centred ? static_cast<double>(sum / length) : 0.0;
  long double squares = 0;
  for (std::int64_t j = 0; j < n; ++j)
    squares += static_cast<long double>(x.at(row * n + j) - mean) * (x.at(row * n + j) - mean);
  const auto variance = static_cast<double>(squares / length);
  const double deviation = std::sqrt(variance + eps);
  const double mean_off = centred ? u * (chain + 2) * magnitudes : 0.0;
  const double part_off = centred ? 8 * u * magnitudes / deviation : 0.0;
  const double variance_off = u * (chain + 8) + 2 * part_off + mean_off * mean_off / (variance + eps);
  const auto normalised = [&](std::int64_t j) { return (x.at(row * n + j) - mean) / deviation; };
  const auto normalised_off = [&](std::int64_t j) {
    return std::abs(normalised(j)) * (variance_off / 2 + 4 * u) + mean_off / deviation;
  };
  long double sum_g = 0;
  long double sum_gx = 0;
  double size_g = 0;
  double size_gx = 0;
  double gx_off = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double g = g_at(j);
    sum_g += g;
    sum_gx += static_cast<long double>(g) * normalised(j);
    size_g += std::abs(g) / length;
    size_gx += std::abs(g * normalised(j)) / length;
    gx_off += std::abs(g) * normalised_off(j) / length;
    const double own = dy.at(row * n + j);
    terms[static_cast<std::size_t>(j)] = {own * normalised(j), std::abs(own) * normalised_off(j), own};
  }
  const double mean_g = centred ? static_cast<double>(sum_g / length) : 0.0;
  const auto mean_gx = static_cast<double>(sum_gx / length);
  const double mean_g_off = centred ? u * (chain + 3) * size_g : 0.0;
  const double mean_gx_off = u * (chain + 4) * size_gx + gx_off;
  for (std::int64_t j = 0; j < n; ++j) {
    const double g = g_at(j);
    const double part = normalised(j) * mean_gx;
    const double added = dsum.numel() > 0 ? dsum.at(row * n + j) : 0.0;
    const double own = (g - mean_g - part) / deviation;
    const double off = (3 * u * (std::abs(g) + std::abs(mean_g) + std::abs(part)) + mean_g_off +
                        std::abs(normalised(j)) * mean_gx_off + std::abs(mean_gx) * normalised_off(j)) /
                           deviation +
                       std::abs(own) * (variance_off / 2 + 4 * u) + 2 * u * std::abs(added) +
                       out * std::abs(own + added) + least;
    dx.set(row * n + j, own + added);
    floors.set(row * n + j, std::isfinite(off) ? off : least);
  }
}

// Inputs in slot order: x, dy, weight, dsum. Outputs: dx, dweight, and dbias of layer_norm. Rows are a chain each, a column one of
// all rows, 16384 at most.
inline Result<std::vector<Expected>> norm_backward_reference(const Case& c,
                                                             std::span<const HostTensor> inputs,
                                                             bool centred) {
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t rows = shape_at(c.shape, "m");
  Expected dx;
  dx.rule = "norm_backward_ref.h: chains of additions in f32 for four means, eight operations, one rounding";
  ROOFTILE_TRY_ASSIGN(dx.exact, HostTensor::create(DType::f64, {rows, n}));
  ROOFTILE_TRY_ASSIGN(dx.floors, HostTensor::create(DType::f64, {rows, n}));
  std::vector<ColumnTerm> terms(static_cast<std::size_t>(rows * n));
  const auto whole = [](std::int64_t count) {
    return std::max<std::int64_t>(1, (std::int64_t{1} << 14) / std::max<std::int64_t>(1, count));
  };
  in_parallel(n > 0 ? rows : 0, whole(n), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      norm_backward_row(
          inputs, c, centred, r, n, dx.exact, dx.floors,
          std::span(terms).subspan(static_cast<std::size_t>(r * n), static_cast<std::size_t>(n)));
    }
  });
  std::vector<Expected> result;
  result.push_back(std::move(dx));
  const double u = unit_roundoff(DType::f32);
  const double chain = 8 * std::sqrt(std::clamp(static_cast<double>(rows), 1024.0, 16384.0) / 12);
  for (const bool is_bias : {false, true}) {
    if (is_bias && !centred) continue;
    Expected sums;
    sums.rule = "a chain of additions in f32 along the rows, one rounding";
    ROOFTILE_TRY_ASSIGN(sums.exact, HostTensor::create(DType::f64, {n}));
    ROOFTILE_TRY_ASSIGN(sums.floors, HostTensor::create(DType::f64, {n}));
    in_parallel(n, whole(rows), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t j = first; j < last; ++j) {
        long double sum = 0;
        double size = 0;
        double off = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          const ColumnTerm& term = terms[static_cast<std::size_t>(r * n + j)];
          sum += is_bias ? term.bias : term.weight;
          size += std::abs(is_bias ? term.bias : term.weight);
          off += is_bias ? 0.0 : term.weight_off;
        }
        const auto exact = static_cast<double>(sum);
        const double least = c.dtype == DType::f16 ? 0x1p-25 : 0x1p-126;
        const double floor =
            u * (chain + 4) * size + off + 1.01 * unit_roundoff(c.dtype) * std::abs(exact) + least;
        sums.exact.set(j, exact);
        sums.floors.set(j, std::isfinite(floor) ? floor : least);
      }
    });
    result.push_back(std::move(sums));
  }
  return result;
}

}  // namespace rooftile
