#include "rooftile/ops/gemm/gemm_ref.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "rooftile/cases/judges.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/gemm_cases.h"

namespace rooftile {
namespace {

// A matrix of a case by its rows and columns, transposed or not.
class Rows {
 public:
  Rows(const HostTensor& tensor, bool is_transposed, std::int64_t rows, std::int64_t columns)
      : tensor_(&tensor),
        row_(is_transposed ? 1 : columns),
        column_(is_transposed ? rows : 1),
        batch_(rows * columns) {}
  [[nodiscard]] double at(std::int64_t batch, std::int64_t i, std::int64_t j) const {
    return tensor_->at(batch * batch_ + i * row_ + j * column_);
  }

 private:
  const HostTensor* tensor_;
  std::int64_t row_;
  std::int64_t column_;
  std::int64_t batch_;
};

struct Wanted {
  double exact = 0;
  double floor = 0;
};

double activated(GemmActivation activation, double x) {
  switch (activation) {
    case GemmActivation::none:
      return x;
    case GemmActivation::relu:
      return x < 0 ? 0.0 : x;
    case GemmActivation::gelu_erf:
      return x < -1e3 ? 0.0 : 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case GemmActivation::gelu_tanh:
    case GemmActivation::gelu_tanh_approx:
      return x < -1e3 ? 0.0
                      : x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case GemmActivation::silu:
      return x < -1e3 ? 0.0 : x / (1 + std::exp(-x));
    case GemmActivation::sigmoid:
      return 1 / (1 + std::exp(-x));
  }
  return x;
}

class Reference {
 public:
  Reference(const Case& c, std::span<const HostTensor> inputs)
      : sizes_(gemm_sizes(c)),
        a_(inputs[0], c.params.get_bool("transpose_a"), sizes_.m, sizes_.k),
        b_(inputs[1], c.params.get_bool("transpose_b"), sizes_.k, sizes_.n),
        c_(inputs[2], false, sizes_.m, sizes_.n),
        bias_(&inputs[3]),
        alpha_(c.params.get_double("alpha")),
        beta_(inputs[2].numel() == 0 ? 0.0 : c.params.get_double("beta")),
        activation_(enum_value<GemmActivation>(c.params.get_string("activation"))),
        is_half_(size_of(c.dtype) == 2),
        out_(gemm_out_dtype(c)),
        unit_(unit_roundoff(is_half_ ? DType::f32 : c.dtype)),
        is_ramp_(case_number(c, "ramp") != 0) {
    constexpr double kLargestProduct = 64;  // of Fill::small_integers
    const bool linear = activation_ == GemmActivation::none || activation_ == GemmActivation::relu;
    const bool whole = std::floor(alpha_) == alpha_ && std::floor(beta_) == beta_;
    is_exact_ = c.fill == Fill::small_integers && linear && whole && !is_ramp_ &&
                (static_cast<double>(sizes_.k) * std::abs(alpha_) + std::abs(beta_) + 1) * kLargestProduct <=
                    1 / unit_;
  }

  [[nodiscard]] bool is_exact() const { return is_exact_; }
  [[nodiscard]] bool is_linear() const { return activation_ == GemmActivation::none; }

  // Sums in Wide, which must be wider than the operator's own.
  template <class Wide>
  [[nodiscard]] Wanted element(std::int64_t index) const {
    const std::int64_t j = index % sizes_.n;
    const std::int64_t i = index / sizes_.n % sizes_.m;
    const std::int64_t batch = index / sizes_.n / sizes_.m;
    Wide sum = 0;
    double magnitudes = 0;
    double squares = 0;
    for (std::int64_t l = 0; l < sizes_.k && alpha_ != 0; ++l) {
      const Wide product = static_cast<Wide>(a_.at(batch, i, l)) * static_cast<Wide>(b_.at(batch, l, j));
      sum += product;
      magnitudes += std::abs(static_cast<double>(product));
      squares += static_cast<double>(product) * static_cast<double>(product);
    }
    if (is_ramp_ && alpha_ != 0) sum = static_cast<Wide>(closed_form(i, j));
    const double of_c = beta_ == 0 ? 0.0 : beta_ * c_.at(batch, i, j);
    const double of_bias = bias_->numel() == 0 ? 0.0 : bias_->at(j);
    const double x = static_cast<double>(static_cast<Wide>(alpha_) * sum) + of_c + of_bias;
    Wanted wanted{.exact = activated(activation_, x)};
    if (is_exact_ || !std::isfinite(x) || !std::isfinite(rounded_to(out_, wanted.exact))) {
      wanted.exact = rounded_to(out_, wanted.exact);
      return wanted;
    }
    const double added =
        2 * unit_ * (std::abs(alpha_ * static_cast<double>(sum)) + std::abs(of_c) + std::abs(of_bias));
    wanted.floor = std::abs(alpha_) * rounding_of_sum(static_cast<double>(sum), magnitudes, squares) + added;
    // No activation is steeper than 1.13; its own functions are off by some units in the last place. That of gelu_tanh_approx adds up what
    // may be rounded to out's type, and has half of x times a tanh that is off by 2^-11.
    if (activation_ != GemmActivation::none)
      wanted.floor = 1.2 * wanted.floor + 8 * unit_ * std::max(1.0, std::abs(x));
    if (activation_ == GemmActivation::gelu_tanh_approx && size_of(out_) == 2)
      wanted.floor += added / (2 * unit_) * 1.13 * unit_roundoff(out_) + 0x1p-12 * std::abs(x);
    if (size_of(out_) == 2)
      wanted.floor +=
          1.01 * unit_roundoff(out_) * std::abs(wanted.exact) + (out_ == DType::f16 ? 0x1p-25 : 0.0);
    return wanted;
  }

  // The product with r, whose elements are the columns: of all batches' rows.
  [[nodiscard]] std::vector<double> product(std::span<const double> r) const {
    std::vector<double> result(static_cast<std::size_t>(sizes_.batches * sizes_.m));
    for (std::int64_t batch = 0; batch < sizes_.batches; ++batch) {
      std::vector<double> inner(static_cast<std::size_t>(sizes_.k));
      in_parallel(sizes_.k, 16, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t l = first; l < last; ++l)
          for (std::int64_t j = 0; j < sizes_.n; ++j)
            inner[static_cast<std::size_t>(l)] += b_.at(batch, l, j) * r[static_cast<std::size_t>(j)];
      });
      in_parallel(sizes_.m, 16, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          double sum = 0;
          for (std::int64_t l = 0; l < sizes_.k; ++l)
            sum += a_.at(batch, i, l) * inner[static_cast<std::size_t>(l)];
          sum *= alpha_;
          for (std::int64_t j = 0; j < sizes_.n && (beta_ != 0 || bias_->numel() > 0); ++j) {
            const double of_c = beta_ == 0 ? 0.0 : beta_ * c_.at(batch, i, j);
            const double of_bias = bias_->numel() == 0 ? 0.0 : bias_->at(j);
            sum += (of_c + of_bias) * r[static_cast<std::size_t>(j)];
          }
          result[static_cast<std::size_t>(batch * sizes_.m + i)] = sum;
        }
      });
    }
    return result;
  }

 private:
  // The sum over l of (i + l) (l - j).
  [[nodiscard]] double closed_form(std::int64_t i, std::int64_t j) const {
    const auto k = static_cast<double>(sizes_.k);
    const double linear = k * (k - 1) / 2;
    const double squares = (k - 1) * k * (2 * k - 1) / 6;
    const auto x = static_cast<double>(i);
    const auto y = static_cast<double>(j);
    return squares + (x - y) * linear - x * y * k;
  }

  // A chain of k additions rounds each of its partial sums, by 0.58 u of it in the mean. Those of products of random signs are
  // a random walk, whose roundings add up to 0.41 u sqrt(k) |products|_2; towards a sum that is far from 0 they rise to it, and
  // add up to 0.33 u sqrt(k) of it. Six times the one and four times the other are allowed, and never more than the worst
  // case, k u of the magnitudes. Tensor cores cut off in place of rounding, once in 8 products or in 16: up to 2 u of a partial sum, u of it
  // in the mean, and always towards zero. Partial sums grow to the last as their root or in proportion: twice what that adds
  // up to is allowed.
  [[nodiscard]] double rounding_of_sum(double sum, double magnitudes, double squares) const {
    const double root = std::sqrt(static_cast<double>(sizes_.k));
    // A ramp's products change their sign once: its partial sums are larger than the last.
    const double drift = is_ramp_ ? magnitudes : std::abs(sum);
    const double length = std::sqrt(squares);
    const double walk = root * (2.5 * length + 1.4 * drift);
    const double cut_off =
        is_half_ ? std::ceil(static_cast<double>(sizes_.k) / 8) * (2 * length + drift) : 0.0;
    return unit_ * std::min(static_cast<double>(sizes_.k) * magnitudes, std::max(walk, cut_off));
  }

  GemmSizes sizes_;
  Rows a_;
  Rows b_;
  Rows c_;
  const HostTensor* bias_;
  double alpha_;
  double beta_;
  GemmActivation activation_;
  bool is_half_;
  DType out_;
  double unit_;
  bool is_ramp_;
  bool is_exact_ = false;
};

}  // namespace

Result<Judge> gemm_judge(const Case& c, std::span<const HostTensor> inputs) {
  constexpr std::int64_t kMostProducts = std::int64_t{1} << 26;  // or a sample is judged
  const GemmSizes sizes = gemm_sizes(c);
  const Reference reference(c, inputs);
  const std::int64_t elements = sizes.batches * sizes.m * sizes.n;
  const bool is_sampled =
      static_cast<double>(elements) * static_cast<double>(sizes.k) > static_cast<double>(kMostProducts) &&
      elements > 8192;
  Expected expected;
  if (is_sampled)
    expected.indices =
        sampled_indices({.rows = sizes.batches * sizes.m, .columns = sizes.n, .tile = 64}, c.seed);
  const auto count = is_sampled ? static_cast<std::int64_t>(expected.indices.size()) : elements;
  const Extents shape = is_sampled ? Extents{count} : gemm_output_shape(c);
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, shape));
  ROOFTILE_TRY_ASSIGN(expected.floors, HostTensor::create(DType::f64, shape));
  expected.rule = reference.is_exact()
                      ? "exact: every partial sum is an integer that the dtype holds"
                      : "six deviations of the roundings of a chain of k additions, what tensor cores cut "
                        "off, and the rounding of the result";
  in_parallel(count, 16, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t s = first; s < last; ++s) {
      const std::int64_t index = is_sampled ? expected.indices[static_cast<std::size_t>(s)] : s;
      const Wanted wanted =
          c.dtype == DType::f64 ? reference.element<long double>(index) : reference.element<double>(index);
      expected.exact.set(s, wanted.exact);
      expected.floors.set(s, wanted.floor);
    }
  });
  double tolerance = 0;
  for (std::int64_t s = 0; s < count; ++s) tolerance = std::max(tolerance, expected.floors.at(s));
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  Judge judge = element_by_element({"out"}, std::move(all));
  if (!is_sampled || !reference.is_linear() || !std::isfinite(tolerance)) return judge;
  return all_of({std::move(judge),
                 freivalds({.name = "out",
                            .rows = sizes.batches * sizes.m,
                            .columns = sizes.n,
                            .product = [=](std::span<const double> r) { return reference.product(r); },
                            .tolerance = tolerance},
                           c.seed)});
}

}  // namespace rooftile
