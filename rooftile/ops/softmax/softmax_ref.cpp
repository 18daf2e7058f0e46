#include "rooftile/ops/softmax/softmax_ref.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"

namespace rooftile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Inputs as they are: [m, n] without gaps; bias and mask may be empty.
struct Problem {
  const HostTensor& x;
  const HostTensor& bias;
  const HostTensor& mask;
  std::int64_t n = 0;
  double temperature = 1;
  bool log = false;
  DType dtype = DType::f32;

  [[nodiscard]] double value(std::int64_t i) const {
    if (mask.numel() > 0 && mask.at(i) == 0) return -kInfinity;
    return x.at(i) + (bias.numel() > 0 ? bias.at(i) : 0.0);
  }
};

struct Row {
  std::vector<double> y;
  std::vector<double> floors;
};

Row nan_row(std::int64_t n) {
  return {std::vector<double>(static_cast<std::size_t>(n), kNan),
          std::vector<double>(static_cast<std::size_t>(n))};
}

Row one_hot(const Problem& p, const std::vector<double>& v, double maximum) {
  const double other = p.log ? -kInfinity : 0.0;
  Row row{std::vector<double>(v.size(), other), std::vector<double>(v.size())};
  if (maximum > -kInfinity) {
    const auto place = std::find(v.begin(), v.end(), maximum) - v.begin();
    row.y[static_cast<std::size_t>(place)] = p.log ? 0.0 : 1.0;
  }
  return row;
}

// What sound arithmetic in f32 may be off, u being its unit roundoff. An exponent a = (v - max) / temperature is three
// roundings off, with a bias one of v more: so much is the exponential off relatively, and the approximation of the powers of 2
// another four u. The sum is off by the mean of that, weighted by the results, and by the roundings of one chain of additions
// of n terms, 16384 at most (gemv_ref.cpp has the rule: eight deviations of a random walk). A sum that stands for the maximum so far
// is scaled by an exponential, which is mostly less than one u off, whenever there is a new one. Then the result is rounded
// to y's dtype; what is below 2^-126 may be 0.
Row warm_row(const Problem& p, const std::vector<double>& v, double maximum) {
  const auto n = static_cast<double>(v.size());
  const double reference = maximum == -kInfinity ? 0.0 : maximum;
  const double u = unit_roundoff(DType::f32);
  const double out = 1.01 * unit_roundoff(p.dtype);
  const double least = p.dtype == DType::f16 ? 0x1p-25 : 0x1p-126;
  std::vector<double> exponentials(v.size());
  long double sum = 0;
  for (std::size_t j = 0; j < v.size(); ++j) {
    exponentials[j] = std::exp((v[j] - reference) / p.temperature);
    sum += exponentials[j];
  }
  const auto total = static_cast<double>(sum);
  // In units of u, of an exponential.
  const auto off = [&](double value) {
    if (value == -kInfinity) return 0.0;
    const double moved = p.bias.numel() > 0 ? (std::abs(value) + std::abs(reference)) / p.temperature : 0.0;
    return 4 + 3 * std::abs(value - reference) / p.temperature + moved;
  };
  double mean = 0;
  for (std::size_t j = 0; j < v.size() && total > 0; ++j) mean += exponentials[j] / total * off(v[j]);
  double scalings = 0;
  double so_far = -kInfinity;
  for (const double value : v) {
    if (value > so_far) ++scalings;
    so_far = std::max(so_far, value);
  }
  const double chain = 8 * std::sqrt(std::clamp(n, 1024.0, 16384.0) / 12) + scalings;
  Row row{std::vector<double>(v.size()), std::vector<double>(v.size())};
  const double logarithm = total > 0 ? std::log(total) : 0.0;
  for (std::size_t j = 0; j < v.size(); ++j) {
    if (p.log) {
      row.y[j] = (v[j] - reference) / p.temperature - logarithm;
      row.floors[j] =
          u * (off(v[j]) + mean + chain + 3 * std::abs(logarithm)) + out * std::abs(row.y[j]) + least;
    } else {
      row.y[j] = total > 0 ? exponentials[j] / total : 0.0;
      row.floors[j] = row.y[j] * (u * (off(v[j]) + mean + chain + 3) + out) + least;
    }
    if (!std::isfinite(row.floors[j])) row.floors[j] = least;  // of infinities, which stand in their places
  }
  return row;
}

Row result_of(const Problem& p, std::int64_t first) {
  std::vector<double> v(static_cast<std::size_t>(p.n));
  double maximum = -kInfinity;
  for (std::int64_t j = 0; j < p.n; ++j) {
    const double value = p.value(first + j);
    if (std::isnan(value)) return nan_row(p.n);
    v[static_cast<std::size_t>(j)] = value;
    maximum = std::max(maximum, value);
  }
  if (p.temperature == 0) return one_hot(p, v, maximum);
  if (maximum == kInfinity) return nan_row(p.n);
  return warm_row(p, v, maximum);
}

}  // namespace

Result<std::vector<Expected>> softmax_reference(const Case& c, std::span<const HostTensor> inputs) {
  const std::int64_t n = shape_at(c.shape, "n");
  const bool is_vector = c.shape.front().first == "n";
  const std::int64_t rows = is_vector ? 1 : shape_at(c.shape, "m");
  const Problem p{.x = inputs[0],
                  .bias = inputs[1],
                  .mask = inputs[2],
                  .n = n,
                  .temperature = c.params.get_double("temperature"),
                  .log = c.params.get_bool("log"),
                  .dtype = c.dtype};
  Expected expected;
  const Extents shape = is_vector ? Extents{n} : Extents{rows, n};
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, shape));
  ROOFTILE_TRY_ASSIGN(expected.floors, HostTensor::create(DType::f64, shape));
  const std::int64_t grain =
      std::max<std::int64_t>(1, (std::int64_t{1} << 14) / std::max<std::int64_t>(1, n));
  in_parallel(rows, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last && n > 0; ++r) {
      const Row row = result_of(p, r * n);
      for (std::int64_t j = 0; j < n; ++j) {
        expected.exact.set(r * n + j, row.y[static_cast<std::size_t>(j)]);
        expected.floors.set(r * n + j, row.floors[static_cast<std::size_t>(j)]);
      }
    }
  });
  expected.rule =
      "three roundings of an exponent, four units of an exponential, a chain of additions in f32, one rounding to y's dtype";
  std::vector<Expected> result;
  result.push_back(std::move(expected));
  return result;
}

}  // namespace rooftile
