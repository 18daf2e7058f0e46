#include "rooftile/ops/reduce/reduce_ref.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "rooftile/ops/reduce/reduce.h"

namespace rooftile {
namespace {

// Some axes of a row-major tensor.
struct AxesOf {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;

  [[nodiscard]] std::int64_t offset(std::int64_t index) const {
    std::int64_t sum = 0;
    for (std::size_t d = extents.size(); d-- > 0; index /= extents[d]) sum += index % extents[d] * strides[d];
    return sum;
  }
  [[nodiscard]] std::int64_t count() const {
    std::int64_t n = 1;
    for (const std::int64_t extent : extents) n *= extent;
    return n;
  }
  void add(std::int64_t extent, std::int64_t stride) {
    // Neighbours as one: a division less for each element.
    if (!extents.empty() && strides.back() == extent * stride) {
      extents.back() *= extent;
      strides.back() = stride;
    } else {
      extents.push_back(extent);
      strides.push_back(stride);
    }
  }
};

struct Problem {
  const HostTensor* in = nullptr;
  ReduceOp op = ReduceOp::sum;
  DType out_dtype = DType::f32;
  Extents out_shape;
  AxesOf kept;
  AxesOf meeting;
  std::int64_t reduced = 1;

  [[nodiscard]] std::int64_t outputs() const { return kept.count(); }
  // The place of element r of output o.
  [[nodiscard]] std::int64_t at(std::int64_t o, std::int64_t r) const {
    return kept.offset(o) + meeting.offset(r);
  }
};

Result<Problem> make_problem(const Case& c, const HostTensor& in) {
  Problem p;
  p.in = &in;
  p.op = enum_value<ReduceOp>(c.params.get_string("op"));
  p.out_dtype = c.params.get_optional_dtype("out_dtype").value_or(reduce_out_dtype(p.op, in.dtype()));
  const ParamValue& named = c.params.at("axes");
  const auto* axes = std::get_if<std::vector<std::int64_t>>(&named);
  const Extents strides = contiguous_strides(in.shape());
  const int rank = in.shape().rank();
  std::vector<std::int64_t> out_shape;
  for (int d = 0; d < rank; ++d) {
    const bool meets = axes == nullptr || std::count(axes->begin(), axes->end(), d) > 0 ||
                       std::count(axes->begin(), axes->end(), d - rank) > 0;
    (meets ? p.meeting : p.kept).add(in.shape()[d], strides[d]);
    if (!meets) out_shape.push_back(in.shape()[d]);
    if (meets && c.params.get_bool("keepdims")) out_shape.push_back(1);
  }
  p.reduced = p.meeting.count();
  p.out_shape = Extents(out_shape);
  return p;
}

// The same sum in the operator's own precision, by a method that is known to be sound: pairwise.
template <class Acc>
Acc pairwise_sum(const std::vector<double>& x, std::size_t first, std::size_t last) {
  if (last - first <= 64) {
    Acc acc = 0;
    for (std::size_t i = first; i < last; ++i) acc += static_cast<Acc>(x[i]);
    return acc;
  }
  const std::size_t middle = first + (last - first) / 2;
  return pairwise_sum<Acc>(x, first, middle) + pairwise_sum<Acc>(x, middle, last);
}

// The spacing of the dtype's numbers near 1, halved: what one rounding to it costs relatively.
double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-53;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

double rounded_to(DType dtype, double value) {
  double storage = 0.0;
  store_from_double(&storage, dtype, value);
  return load_as_double(&storage, dtype);
}

bool sums_exactly(const Case& c, std::int64_t n) {
  constexpr double kLargestInteger = 8.0;    // of Fill::small_integers
  constexpr double kExactIntegers = 0x1p24;  // fp32 holds every integer up to here
  return c.fill == Fill::small_integers && static_cast<double>(n) * kLargestInteger <= kExactIntegers;
}

Result<Expected> float_sums(const Case& c, const Problem& p) {
  Expected expected;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, p.out_shape));
  ROOFTILE_TRY_ASSIGN(expected.same_precision, HostTensor::create(DType::f64, p.out_shape));
  const bool wide = p.in->dtype() == DType::f64;
  const double divisor = p.op == ReduceOp::mean ? static_cast<double>(p.reduced) : 1.0;
  double largest_norm = 0.0;
  double largest_result = 0.0;
  std::vector<double> x(static_cast<std::size_t>(p.reduced));
  for (std::int64_t o = 0; o < p.outputs(); ++o) {
    // long double: an f64 sum needs more than double to be judged by.
    long double sum = 0.0L;
    double sum_of_squares = 0.0;
    for (std::int64_t r = 0; r < p.reduced; ++r) {
      const double value = p.in->at(p.at(o, r));
      x[static_cast<std::size_t>(r)] = value;
      sum += value;
      sum_of_squares += value * value;
    }
    const double same = wide ? pairwise_sum<double>(x, 0, x.size())
                             : static_cast<double>(pairwise_sum<float>(x, 0, x.size()));
    const double exact = static_cast<double>(sum / static_cast<long double>(divisor));
    expected.exact.as<double>()[static_cast<std::size_t>(o)] = exact;
    expected.same_precision.as<double>()[static_cast<std::size_t>(o)] =
        rounded_to(p.out_dtype, same / divisor);
    if (std::isfinite(sum_of_squares)) largest_norm = std::max(largest_norm, std::sqrt(sum_of_squares));
    if (std::isfinite(exact)) largest_result = std::max(largest_result, std::abs(exact));
  }
  const bool exact_sum = sums_exactly(c, p.reduced);
  if (exact_sum && p.op == ReduceOp::sum && unit_roundoff(p.out_dtype) <= 0x1p-24) {
    expected.factor = 0.0;
    expected.rule = "exact: every partial sum is an integer below 2^24";
    return expected;
  }
  // An addition rounds its result p by an error of variance (1.4 u p)^2 / 12, u being the accumulator's unit
  // roundoff. Over a serial chain of L random-signed terms p grows as a random walk, and all chains together
  // round off u * sqrt(L / 12) * |x|_2. Four times that for one output, and what the largest of many such
  // errors adds: sqrt(16 + 2 ln outputs). One element left out of a million is a hundred times larger. Then
  // one rounding to the result's dtype, and its denormals.
  constexpr double kLongestChain = 1024.0;
  const double deviations = std::sqrt(16.0 + 2.0 * std::log(std::max(1.0, static_cast<double>(p.outputs()))));
  const double accumulator = wide ? 0x1p-53 : 0x1p-24;
  const double chains =
      exact_sum ? 0.0 : deviations * accumulator * std::sqrt(kLongestChain / 12.0) * largest_norm / divisor;
  const double result =
      1.01 * unit_roundoff(p.out_dtype) * largest_result + (p.out_dtype == DType::f16 ? 0x1p-25 : 0.0);
  expected.factor = 2.0;
  expected.floor = chains + result;
  expected.rule =
      "twice the error of a pairwise sum, plus the rounding of serial chains of 1024 additions and of out";
  return expected;
}

Result<Expected> integer_sums(const Problem& p) {
  Expected expected;
  expected.factor = 0.0;
  expected.rule = "exact, modulo 2^64";
  const bool is_mean = p.op == ReduceOp::mean;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(is_mean ? DType::f64 : p.out_dtype, p.out_shape));
  const HostTensor& in = *p.in;
  for (std::int64_t o = 0; o < p.outputs(); ++o) {
    std::uint64_t sum = 0;
    for (std::int64_t r = 0; r < p.reduced; ++r) {
      const auto i = static_cast<std::size_t>(p.at(o, r));
      if (in.dtype() == DType::i64) {
        sum += static_cast<std::uint64_t>(in.as<std::int64_t>()[i]);
      } else if (in.dtype() == DType::u64) {
        sum += in.as<std::uint64_t>()[i];
      } else {
        sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(in.at(static_cast<std::int64_t>(i))));
      }
    }
    const auto at = static_cast<std::size_t>(o);
    if (!is_mean) {
      expected.exact.as<std::uint64_t>()[at] = sum;
      continue;
    }
    const double total = is_signed(in.dtype()) ? static_cast<double>(static_cast<std::int64_t>(sum))
                                               : static_cast<double>(sum);
    expected.exact.as<double>()[at] = rounded_to(p.out_dtype, total / static_cast<double>(p.reduced));
  }
  return expected;
}

// Whether element a beats element b, which stands before it.
bool beats(const HostTensor& in, std::int64_t a, std::int64_t b, bool largest) {
  const auto i = static_cast<std::size_t>(a);
  const auto j = static_cast<std::size_t>(b);
  if (in.dtype() == DType::i64) {
    return largest ? in.as<std::int64_t>()[i] > in.as<std::int64_t>()[j]
                   : in.as<std::int64_t>()[i] < in.as<std::int64_t>()[j];
  }
  if (in.dtype() == DType::u64) {
    return largest ? in.as<std::uint64_t>()[i] > in.as<std::uint64_t>()[j]
                   : in.as<std::uint64_t>()[i] < in.as<std::uint64_t>()[j];
  }
  const double x = in.at(a);
  const double y = in.at(b);
  if (std::isnan(y)) return false;
  if (std::isnan(x)) return true;
  return largest ? x > y : x < y;
}

Result<Expected> extremes(const Problem& p) {
  Expected expected;
  expected.factor = 0.0;
  expected.rule = "exact";
  const bool largest = p.op == ReduceOp::max || p.op == ReduceOp::argmax;
  const bool index = p.op == ReduceOp::argmin || p.op == ReduceOp::argmax;
  const HostTensor& in = *p.in;
  const DType dtype = index ? DType::i64 : (is_float(in.dtype()) ? DType::f64 : in.dtype());
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(dtype, p.out_shape));
  for (std::int64_t o = 0; o < p.outputs(); ++o) {
    std::int64_t best = 0;
    for (std::int64_t r = 1; r < p.reduced; ++r) {
      if (beats(in, p.at(o, r), p.at(o, best), largest)) best = r;
    }
    const auto at = static_cast<std::size_t>(o);
    const auto from = static_cast<std::size_t>(p.at(o, best));
    if (index) {
      expected.exact.as<std::int64_t>()[at] = best;
    } else if (in.dtype() == DType::i64) {
      expected.exact.as<std::int64_t>()[at] = in.as<std::int64_t>()[from];
    } else if (in.dtype() == DType::u64) {
      expected.exact.as<std::uint64_t>()[at] = in.as<std::uint64_t>()[from];
    } else {
      expected.exact.set(o, in.at(static_cast<std::int64_t>(from)));
    }
  }
  return expected;
}

}  // namespace

Result<std::vector<Expected>> reduce_reference(const Case& c, std::span<const HostTensor> inputs) {
  ROOFTILE_TRY_ASSIGN(const Problem p, make_problem(c, inputs[0]));
  const bool sums = p.op == ReduceOp::sum || p.op == ReduceOp::mean;
  Result<Expected> expected = !sums                         ? extremes(p)
                              : is_float(inputs[0].dtype()) ? float_sums(c, p)
                                                            : integer_sums(p);
  if (!expected.ok()) return expected.status();
  std::vector<Expected> all;
  all.push_back(std::move(*expected));
  return all;
}

}  // namespace rooftile
