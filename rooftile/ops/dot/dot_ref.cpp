#include "rooftile/ops/dot/dot_ref.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"

namespace rooftile {
namespace {

struct Sums {
  long double exact = 0;      // products of f32 and below are exact in it; of f64 to 2^-64
  long double magnitude = 0;  // of the products' absolute values
  double squares = 0;         // of the products
  double same = 0;            // pairwise, in the precision that is asked for at least
};

// Pairwise, the way that is known to be sound.
template <class Acc>
Acc pairwise_sum(const HostTensor& a, const HostTensor& b, std::int64_t first, std::int64_t last) {
  if (last - first <= 64) {
    Acc sum = 0;
    for (std::int64_t i = first; i < last; ++i)
      sum = std::fma(static_cast<Acc>(a.at(i)), static_cast<Acc>(b.at(i)), sum);
    return sum;
  }
  const std::int64_t middle = first + (last - first) / 2;
  return pairwise_sum<Acc>(a, b, first, middle) + pairwise_sum<Acc>(a, b, middle, last);
}

Sums sum_part(const HostTensor& a, const HostTensor& b, bool wide, std::int64_t first, std::int64_t last) {
  Sums sums;
  for (std::int64_t i = first; i < last; ++i) {
    const long double product = static_cast<long double>(a.at(i)) * b.at(i);
    sums.exact += product;
    sums.magnitude += std::abs(product);
    sums.squares += static_cast<double>(product * product);
  }
  sums.same = wide ? pairwise_sum<double>(a, b, first, last) : pairwise_sum<float>(a, b, first, last);
  return sums;
}

Sums sum_up(const HostTensor& a, const HostTensor& b, bool wide) {
  constexpr std::int64_t kPart = std::int64_t{1} << 16;
  const std::int64_t n = a.numel();
  std::vector<Sums> parts(static_cast<std::size_t>((n + kPart - 1) / kPart));
  in_parallel(static_cast<std::int64_t>(parts.size()), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      parts[static_cast<std::size_t>(p)] = sum_part(a, b, wide, p * kPart, std::min((p + 1) * kPart, n));
    }
  });
  Sums total;
  for (const Sums& part : parts) {
    total.exact += part.exact;
    total.magnitude += part.magnitude;
    total.squares += part.squares;
    total.same += part.same;
  }
  return total;
}

// Every partial sum is an integer that the accumulator holds.
bool sums_exactly(const Case& c, std::int64_t n, DType accumulator) {
  constexpr double kLargestProduct = 64;  // of Fill::small_integers
  return c.fill == Fill::small_integers &&
         static_cast<double>(n) * kLargestProduct <= 1 / unit_roundoff(accumulator);
}

// An addition rounds its result p by an error of variance (1.4 u p)^2 / 12, u being the accumulator's unit roundoff.
// Over a serial chain of L products of random sign p grows as a random walk, and all chains together round off
// u * sqrt(L / 12) * |x|_2, x being the products; four times that is allowed. A product that is left out is a hundred
// times larger.
//
// In 16 bits, where every thread's sum is added to one result, the chain is as long as there are threads, and products
// of one sign are no random walk: each addition may lose up to u p, all of them everything that is there.
double rounding_of_sums(const Sums& sums, std::int64_t n, DType accumulator) {
  constexpr double kLongestChain = 1024.0;
  constexpr double kMostThreads = 1 << 19;
  constexpr double kDeviations = 4;
  const double u = unit_roundoff(accumulator);
  const bool narrow = u > 0x1p-24;
  const double chain =
      narrow ? std::min(static_cast<double>(n), kMostThreads) + kLongestChain : kLongestChain;
  const double walk = kDeviations * u * std::sqrt(chain / 12.0) * std::sqrt(sums.squares);
  const bool one_sign = std::abs(sums.exact) > sums.magnitude / 2;
  const double drift =
      narrow && one_sign ? std::min(1.0, chain * u) * static_cast<double>(sums.magnitude) : 0.0;
  return std::max(walk, drift);
}

}  // namespace

Result<std::vector<Expected>> dot_reference(const Case& c, std::span<const HostTensor> inputs) {
  const std::int64_t n = inputs[0].numel();
  const DType natural = c.dtype == DType::f64 ? DType::f64 : DType::f32;
  const DType accumulator = c.params.get_optional_dtype("compute_dtype").value_or(natural);
  const DType out = c.params.get_optional_dtype("out_dtype").value_or(c.dtype);
  const Sums sums = sum_up(inputs[0], inputs[1], accumulator == DType::f64);
  const auto exact = static_cast<double>(sums.exact);

  Expected expected;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, Extents{}));
  expected.exact.set(0, exact);
  if (sums_exactly(c, n, accumulator)) {
    expected.exact.set(0, rounded_to(out, exact));
    expected.factor = 0.0;
    expected.rule =
        "exact but for one rounding to out: every partial sum is an integer that the accumulator holds";
  } else {
    ROOFTILE_TRY_ASSIGN(expected.same_precision, HostTensor::create(DType::f64, Extents{}));
    expected.same_precision.set(0, rounded_to(out, sums.same));
    if (std::isfinite(exact) && std::isfinite(sums.squares)) {
      const double denormal = out == DType::f16 ? 0x1p-25 : 0.0;
      expected.floor =
          rounding_of_sums(sums, n, accumulator) + 1.01 * unit_roundoff(out) * std::abs(exact) + denormal;
    }
    expected.rule =
        unit_roundoff(accumulator) > 0x1p-24
            ? "what one chain of all threads' sums in 16 bits may round off"
            : "twice the error of a pairwise sum, plus the rounding of serial chains of 1024 additions and of out";
  }
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
