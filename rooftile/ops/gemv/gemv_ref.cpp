#include "rooftile/ops/gemv/gemv_ref.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "rooftile/cases/judges.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"

namespace rooftile {
namespace {

// Inputs as they are: a [b, m, n], x [b, n or m], c [b, m or n] without gaps.
struct Problem {
  const HostTensor& a;
  const HostTensor& x;
  const HostTensor& c;
  std::int64_t m = 0;
  std::int64_t n = 0;
  bool transpose = false;
  double alpha = 1;  // as it is used, in f32 or f64
  double beta = 0;
  bool is_wide = false;  // accumulated in f64
  [[nodiscard]] std::int64_t outputs() const { return transpose ? n : m; }
  // Nothing is added up where alpha is 0.
  [[nodiscard]] std::int64_t reduced() const { return alpha == 0 ? 0 : (transpose ? m : n); }
  [[nodiscard]] double left(std::int64_t batch, std::int64_t output, std::int64_t j) const {
    return a.at(batch * m * n + (transpose ? j * n + output : output * n + j));
  }
  [[nodiscard]] double right(std::int64_t batch, std::int64_t j) const {
    return x.at(batch * (transpose ? m : n) + j);
  }
};

struct Sums {
  long double exact = 0;  // products of f32 and below are exact in it; of f64 to 2^-64
  double squares = 0;     // of the products
  double same = 0;        // pairwise, in the precision of the operator
};

// Pairwise, the way that is known to be sound.
template <class Acc>
Acc pairwise_sum(const Problem& p, std::int64_t batch, std::int64_t output, std::int64_t first,
                 std::int64_t last) {
  if (last - first <= 64) {
    Acc sum = 0;
    for (std::int64_t j = first; j < last; ++j)
      sum = std::fma(static_cast<Acc>(p.left(batch, output, j)), static_cast<Acc>(p.right(batch, j)), sum);
    return sum;
  }
  const std::int64_t middle = first + (last - first) / 2;
  return pairwise_sum<Acc>(p, batch, output, first, middle) +
         pairwise_sum<Acc>(p, batch, output, middle, last);
}

Sums sum_up(const Problem& p, std::int64_t batch, std::int64_t output) {
  Sums sums;
  for (std::int64_t j = 0; j < p.reduced(); ++j) {
    const long double product = static_cast<long double>(p.left(batch, output, j)) * p.right(batch, j);
    sums.exact += product;
    sums.squares += static_cast<double>(product * product);
  }
  sums.same = p.is_wide ? pairwise_sum<double>(p, batch, output, 0, p.reduced())
                        : pairwise_sum<float>(p, batch, output, 0, p.reduced());
  return sums;
}

// All outputs, or, where that would be more than 2^30 products, as many as that many are.
std::vector<std::int64_t> looked_at(std::int64_t outputs, std::int64_t reduced, std::uint64_t seed) {
  constexpr std::int64_t kMostProducts = std::int64_t{1} << 30;
  constexpr std::int64_t kLeast = 64;
  const std::int64_t count = std::max(kMostProducts / std::max<std::int64_t>(1, reduced), kLeast);
  if (outputs > count)
    return sampled_indices(SampledMatrix{.rows = outputs, .columns = 1, .tile = 64, .count = count}, seed);
  std::vector<std::int64_t> all(static_cast<std::size_t>(outputs));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

// An addition rounds its result s by an error of variance (1.4 u s)^2 / 12, u being the accumulator's unit roundoff. Over
// one serial chain of k products of random sign, as BLAS has it, s grows as a random walk, and the chain rounds off
// u * sqrt(k / 12) * |products|_2; eight times that is allowed: of tens of thousands of outputs there is one whose sums stray
// far. Tensor cores, by which cuBLAS multiplies 16-bit elements, cut off in place of rounding, every 16 products: what they lose
// is half a unit of each partial sum, u * (k / 16) * |products|_2 / sqrt(3); four times that is allowed. A product that is left out is
// still tens of times larger. Then alpha, beta and the addition round once each, and the result to y's dtype.
double floor_of(const Problem& p, DType dtype, const Sums& sums, double product, double addend,
                double exact) {
  constexpr double kShortestChain = 1024;
  constexpr double kDeviations = 8;
  const double u = unit_roundoff(p.is_wide ? DType::f64 : DType::f32);
  const double chain = std::max(kShortestChain, static_cast<double>(p.reduced()));
  const double rounded = kDeviations * std::sqrt(chain / 12.0);
  const double cut_off = size_of(dtype) == 2 ? 4 * chain / 16 / std::sqrt(3.0) : 0.0;
  const double walk = u * std::max(rounded, cut_off) * std::sqrt(sums.squares);
  const double denormal = dtype == DType::f16 ? 0x1p-25 : 0.0;
  return std::abs(p.alpha) * walk + 2 * u * (std::abs(product) + std::abs(addend)) +
         1.01 * unit_roundoff(dtype) * std::abs(exact) + denormal;
}

}  // namespace

Result<std::vector<Expected>> gemv_reference(const Case& c, std::span<const HostTensor> inputs) {
  const bool is_wide = c.dtype == DType::f64;
  const auto scalar = [&](std::string_view name) {
    const double value = c.params.get_double(name);
    return is_wide ? value : static_cast<double>(static_cast<float>(value));
  };
  const Problem p{.a = inputs[0],
                  .x = inputs[1],
                  .c = inputs[2],
                  .m = shape_at(c.shape, "m"),
                  .n = shape_at(c.shape, "n"),
                  .transpose = c.params.get_bool("transpose"),
                  .alpha = scalar("alpha"),
                  .beta = scalar("beta"),
                  .is_wide = is_wide};
  const std::int64_t batches = c.shape.front().first == "b" ? shape_at(c.shape, "b") : 1;
  const std::int64_t all = batches * p.outputs();
  const std::vector<std::int64_t> looked = looked_at(all, p.reduced(), c.seed);
  const auto count = static_cast<std::int64_t>(looked.size());
  const bool is_sampled = count < all;

  Expected expected;
  const Extents shape = is_sampled                     ? Extents{count}
                        : c.shape.front().first == "b" ? Extents{batches, p.outputs()}
                                                       : Extents{p.outputs()};
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, shape));
  ROOFTILE_TRY_ASSIGN(expected.same_precision, HostTensor::create(DType::f64, shape));
  ROOFTILE_TRY_ASSIGN(expected.floors, HostTensor::create(DType::f64, shape));
  const std::int64_t grain =
      std::max<std::int64_t>(1, (std::int64_t{1} << 16) / std::max<std::int64_t>(1, p.reduced()));
  in_parallel(count, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t at = looked[static_cast<std::size_t>(i)];
      const Sums sums = sum_up(p, at / p.outputs(), at % p.outputs());
      const double addend = p.beta == 0 ? 0 : p.beta * p.c.at(at);
      const double product = p.reduced() == 0 ? 0 : p.alpha * static_cast<double>(sums.exact);
      const double exact = product + addend;
      const double same = (p.reduced() == 0 ? 0 : p.alpha * sums.same) + addend;
      expected.exact.set(i, exact);
      expected.same_precision.set(i, rounded_to(c.dtype, same));
      const bool is_finite = std::isfinite(exact) && std::isfinite(sums.squares);
      expected.floors.set(i, is_finite ? floor_of(p, c.dtype, sums, product, addend, exact) : 0);
    }
  });
  if (is_sampled) expected.indices = looked;
  expected.rule =
      "twice the error of a pairwise sum, plus what one serial chain loses, and the rounding of alpha and beta, and of y";
  std::vector<Expected> result;
  result.push_back(std::move(expected));
  return result;
}

}  // namespace rooftile
